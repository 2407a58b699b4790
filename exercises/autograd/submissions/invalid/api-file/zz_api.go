package autograd
