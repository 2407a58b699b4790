# What this assignment is. Its points on Gradescope have to be the exercise's: 100.
# shellcheck shell=bash disable=SC2034
exercise=autograd
course=''    # a folder beside this file, or nothing for the exercises in grade
limit=900    # seconds that all attempts have together: less than the autograder's own time limit

# Gradescope's containers have no Docker engine. With one of yours, submissions run
# in its containers, contained and official:
#
#   export DOCKER_HOST=tcp://engine.example.org:2376 DOCKER_TLS_VERIFY=1 DOCKER_CERT_PATH=/autograder/source/certs
#
# Without one they run as child processes: the report says "unofficial", and a program
# that wants to can read what is in this container and write its own results.json.
