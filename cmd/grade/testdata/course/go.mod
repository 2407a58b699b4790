module course

go 1.26
