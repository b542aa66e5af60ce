"""Exit code 13 of the application master, with its own log among the inputs. Recorded with Spark 4.3.0 on YARN."""

from emberscope.rules.emr.cluster_mode import RULE
from tests.rules.log_lines import run_of_log
from tests.runs import found

ENDED = (
    "26/12/01 04:47:31 INFO ApplicationMaster: Final app status: FAILED, exitCode: 13\n"
    "26/12/01 04:47:31 ERROR ApplicationMaster: Uncaught exception: \n"
    "java.lang.IllegalStateException: User did not initialize spark context!\n"
    "\tat org.apache.spark.deploy.yarn.ApplicationMaster.runDriver(ApplicationMaster.scala:522)\n"
)
LOCAL = "26/12/01 04:47:23 INFO Executor: Starting executor ID driver on host node-1\n"


def test_a_program_with_a_master_of_its_own_is_told_so():
    (finding,) = found(RULE, run_of_log(LOCAL + ENDED))
    assert finding.title.startswith("The program set its own master, local, in YARN cluster mode")
    assert "ID driver" in repr(finding.evidence)


def test_a_program_that_made_no_context_is_not_said_to_have_set_a_master():
    (finding,) = found(RULE, run_of_log(ENDED))
    assert finding.title == (
        "The program ended without a SparkContext that YARN could see in cluster mode (exit code 13)"
    )


def test_a_local_application_that_ended_well_is_nothing():
    assert not found(RULE, run_of_log(LOCAL))
