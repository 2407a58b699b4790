// Package measure decides from measured runs whether a submission is too slow or takes
// too much memory, always beside the reference on the same machine. Every function is
// pure: measure runs nothing and waits for nothing.
//
// A [Series] holds the runs of one workload and decides both of its checks, speed and
// memory, by the same runs: what is fast in some and slim in others has not both.
//
// Speed is a sequential test. [NewPair] makes a pair of two runs on the same inputs,
// one after the other on one CPU; [JudgeSpeed] decides at each look, by order statistics
// that assume nothing about the noise. [Capped] and [Stopped] bound the runs of a submission that takes far longer
// than the limit allows. [ControlOf] judges the machine by the reference against itself.
//
// Memory is the peaks of some runs each, above what the reference held when its
// measured window opened.
//
// Ratios are submission to reference. CPU time and wall time are different fields, and
// peaks of different sources are never compared.
package measure
