# Settings of this assignment. It needs the exercise's points on Gradescope: 100.
# shellcheck shell=bash disable=SC2034
exercise=autograd
course=''    # a folder beside this file; empty: the exercises built into grade
limit=900    # seconds for all attempts together, less than the autograder's own time limit

# Gradescope's containers have no Docker engine. With an engine of your own, submissions
# run in its containers, isolated, and grades are official:
#
#   export DOCKER_HOST=tcp://engine.example.org:2376 DOCKER_TLS_VERIFY=1 DOCKER_CERT_PATH=/autograder/source/certs
#
# Without one they run as child processes: the report says "unofficial", and a hostile
# program can read all files in this container and write its own results.json.
