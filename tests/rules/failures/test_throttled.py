from __future__ import annotations

import pytest

from emberscope.rules.failures.throttled import RULE
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

# AWS' own description of the error, with EMRFS' and S3A's class names.
EMRFS = (
    "22/01/01 00:00:00 ERROR Executor: Exception in task 1.0 in stage 2.0 (TID 3)\n"
    "com.amazon.ws.emr.hadoop.fs.shaded.com.amazonaws.services.s3.model.AmazonS3Exception: Please reduce your request "
    "rate. (Service: Amazon S3; Status Code: 503; Error Code: SlowDown; Request ID: ABC)"
)
S3A = (
    "22/01/01 00:00:00 ERROR Executor: Exception in task 1.0 in stage 2.0 (TID 3)\n"
    "org.apache.hadoop.fs.s3a.AWSServiceThrottledException: PUT 0-byte object on a: "
    "com.amazonaws.services.s3.model.AmazonS3Exception: Slow Down (Service: Amazon S3; Status Code: 503)"
)
# Version 2 of AWS' SDK puts commas where version 1 has semicolons.
UNAVAILABLE = (
    "22/01/01 00:00:00 ERROR Executor: Exception in task 1.0 in stage 2.0 (TID 3)\n"
    "software.amazon.awssdk.services.s3.model.S3Exception: Service Unavailable (Service: S3, Status Code: 503, Request "
    "ID: ABC)"
)
GLUE = (
    "22/01/01 00:00:00 ERROR GlueMetastoreClientDelegate: com.amazonaws.services.glue.model.AWSGlueException: Rate "
    "exceeded (Service: AWSGlue; Status Code: 400; Error Code: ThrottlingException)"
)
AZURE = "22/01/01 00:00:00 ERROR AbfsClient: Operations per second is over the account limit. 503 ServerBusy abfs.azure"
GCS = '22/01/01 00:00:00 ERROR Task: "code" : 429, "reason" : "rateLimitExceeded" (storage.googleapis.com)'


@pytest.mark.parametrize(
    ("text", "service", "advice"),
    [
        (EMRFS, "S3", "fs.s3.maxRetries"),
        (S3A, "S3", "fs.s3a.retry.throttle"),
        (UNAVAILABLE, "S3", "try longer"),
        (GLUE, "Glue", "higher limit"),
        (AZURE, "Azure", "try longer"),
        (GCS, "Google", "try longer"),
    ],
)
def test_names_the_service_and_its_knob(text: str, service: str, advice: str) -> None:
    (finding,) = found(RULE, run_of_log(text))
    assert service in finding.title
    assert "request" in finding.summary
    assert any(advice in one.text for one in finding.advice)


def test_a_retry_that_was_made_is_no_failure() -> None:
    text = "22/01/01 00:00:00 INFO RetryInvoker: Slow Down (Status Code: 503), trying again"
    (finding,) = found(RULE, run_of_log(text))
    assert finding.consequence == "hint"


def test_in_plain_words_and_not() -> None:
    assert found(RULE, run_of_words("S3 answers 503 when we write 40,000 files"))
    assert found(RULE, run_of_words("stage 503 is slow")) == []


def test_healthy_lines() -> None:
    assert found(RULE, run_of_log("22/01/01 00:00:00 INFO Executor: Finished task 503.0 in stage 1.0 (TID 503)")) == []
