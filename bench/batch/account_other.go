//go:build !linux

package main

import "errors"

func keepAccounts(string) error { return errors.ErrUnsupported }
