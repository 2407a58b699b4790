package main

var forks = map[string]uintptr{}
