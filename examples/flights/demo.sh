#!/bin/sh
# Records the flights application with Emberscope and shows what it found. `make demo` calls it, with the virtual
# environment and a JDK in place.
set -eu
cd "$(dirname "$0")/../.."

data=.cache/flights
if [ ! -f "$data/planes.csv" ]; then
    echo "fetching the flights data set"
    python examples/flights/fetch.py "$data"
fi

rm -rf demo
mkdir demo
echo "recording examples/flights/app.py; it takes about two minutes on two cores"
PYSPARK_PYTHON=$(command -v python) SPARK_LOCAL_IP=127.0.0.1 \
    emberscope run --store demo/runs --report demo/report.html -- \
    spark-submit --master 'local-cluster[2,1,1024]' --conf spark.sql.shuffle.partitions=2 \
    examples/flights/app.py "$data" demo/output 2>demo/log ||
    { tail -n 40 demo/log >&2 && exit 1; }

emberscope diagnose demo/runs
echo
echo "run:    $(ls -d "$PWD"/demo/runs/*/*/*/)"
echo "report: $PWD/demo/report.html"
