"""A service or a file system refused access: who asked for what is in the line.

## What it means
The request arrived and was refused (403, AccessDenied, "Permission denied"), or credentials were missing, wrong or
expired. Nothing is wrong with the data or with Spark. The same path can be readable on the driver and not on executors,
or for one user and not for another: what counts is who asked, for which action, on what.

## What it costs
The job, at the first read or write; what ran before it is lost where it wrote nothing.

## What to do
Allow exactly the action that the line names for exactly that user or role, or run as one who may. Keys and tokens that
expire while a long job runs must be renewed by what can renew them (a role, a keytab), not be copied in once.

## When to ignore it
When a program asks whether something exists and takes a refusal for an answer, and the job went on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal

from emberscope.logs.signature import Signature
from emberscope.rules.base import Finding, Reads, Rule
from emberscope.rules.failures.access_advice import access_advice
from emberscope.rules.failures.ending import Limits, by, failure, groups_of
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

ACCESS_DENIED: Final = Signature(
    name="access-denied",
    pattern=r"Permission denied: user=(?P<user>[^,\s]+), access=(?P<access>\w+), inode=\"?(?P<inode>[^\s\":]+)|"
    r"(?P<kerberos>GSS initiate failed|Client cannot authenticate via|Failed to find any Kerberos tgt|"
    r"can't be found in cache|token \([^)\n]{0,200}\) is expired|LoginException: [^\n]{0,200}|Clock skew too great)|"
    r"(?P<missing>Unable to load (?:AWS )?credentials from|No AWS Credentials provided|NoAuthWithAWSException|"
    r"NoAwsCredentials\w*|Unable to load credentials from any|Your default credentials were not found|"
    r"Application Default Credentials are not available)|"
    r"(?P<wrong>InvalidAccessKeyId|SignatureDoesNotMatch|InvalidClientTokenId|UnrecognizedClient\w*)|"
    r"(?P<expired>ExpiredToken\w*|TokenRefreshRequired|[Tt]he (?:provided|security) token (?:has expired|included in "
    "the "
    r"request is expired))|"
    r"(?P<pods>(?P<kind>\b[\w./]{1,80}) (?:\\?\"[^\"]*\" )?is forbidden: User \\?\"(?P<account>[^\"\\]+)\\?\" cannot "
    r"(?P<verb>\w+) resource \\?\"(?P<resource>[\w./]+))|"
    r"(?P<account_missing>serviceaccount \\?\"(?P<nobody>[\w.-]+)\\?\" not found)|"
    r"(?P<iam>is not authorized to perform: (?P<action>[\w:*]+)(?: on resource: (?P<arn>[^\s,]+))?)|"
    r"(?P<lake>Insufficient Lake Formation permission[^\n]*)|"
    r"(?P<gcs>(?P<gaccount>\b[\w.@-]{1,120}) does not have (?P<gaction>storage\.[\w.]+) access[^\n]{0,120})|"
    r"(?P<azure>AuthorizationPermissionMismatch|AuthorizationFailure|This request is not authorized to perform)|"
    r"(?P<s3>AccessDenied|Access Denied|Status Code: 403|403 Forbidden|AllAccessDisabled|"
    r"S3Exception: Forbidden|AccessDeniedException)",
    literals=(
        "Permission denied: user=",
        "GSS initiate failed",
        "Client cannot authenticate via",
        "Failed to find any Kerberos tgt",
        "can't be found in cache",
        ") is expired",
        "LoginException",
        "Clock skew too great",
        "Unable to load AWS credentials from",
        "Unable to load credentials from",
        "No AWS Credentials provided",
        "NoAuthWithAWSException",
        "NoAwsCredentials",
        "default credentials were not found",
        "Default Credentials are not available",
        "InvalidAccessKeyId",
        "SignatureDoesNotMatch",
        "InvalidClientTokenId",
        "UnrecognizedClient",
        "ExpiredToken",
        "TokenRefreshRequired",
        "he provided token has expired",
        "request is expired",
        "he security token has expired",
        "is forbidden: User",
        "serviceaccount",
        "is not authorized to perform",
        "Insufficient Lake Formation permission",
        "does not have storage.",
        "AuthorizationPermissionMismatch",
        "AuthorizationFailure",
        "AccessDenied",
        "Access Denied",
        "Status Code: 403",
        "403 Forbidden",
        "AllAccessDisabled",
        "S3Exception: Forbidden",
    ),
    words=(
        (r"access denied|permission denied|not authorized|unauthorized|\b403\b|forbidden",),
        (r"credentials?", r"expired?|missing|not found|wrong|invalid|unable"),
        (r"(?P<kerberos>delegation.?token|kerberos|keytab|\btgt\b)", r"expir|\binvalid|renew|cannot|can't|unable|fail"),
    ),
)

Kind = Literal[
    "hdfs",
    "kerberos",
    "missing",
    "wrong",
    "expired",
    "account",
    "pods",
    "iam",
    "lake",
    "gcs",
    "azure",
    "s3",
    "bare",
    "unknown",
]

_KINDS: Final[tuple[tuple[Kind, str], ...]] = (
    ("hdfs", "user"),
    ("kerberos", "kerberos"),
    ("missing", "missing"),
    ("wrong", "wrong"),
    ("expired", "expired"),
    ("account", "account_missing"),
    ("pods", "pods"),
    ("iam", "iam"),
    ("lake", "lake"),
    ("gcs", "gcs"),
    ("azure", "azure"),
    ("s3", "s3"),
)
_MOST_MATCHES: Final = 10
_S3: Final = re.compile(r"Amazon S3|AmazonS3|s3a?://|\bs3\b|S3A?Exception|amazonaws", re.IGNORECASE)
_FORBIDDEN: Final = re.compile(r"\b(?:FORBIDDEN|Forbidden|null) \(Service:")
_TOLD: Final = re.compile(r"Access Denied|AccessDenied(?!Exception)|Error Code: (?!403)|AllAccessDisabled")
"""Words of an answer that has a reason: any 403 becomes Hadoop's AccessDeniedException."""
_REQUEST: Final = re.compile(r"Request ID: ?([\w-]{6,})")
_PATH: Final = re.compile(r"\b(?:s3[an]?|gs|abfss?|wasbs?|hdfs)://[^\s'\",;)]+")

_SUMMARY: Final[dict[Kind, str]] = {
    "hdfs": "The file system checks the owner, group and mode of the path (or Ranger's policies) for the user that the "
    "job runs as.",
    "kerberos": "Kerberos or a delegation token failed: there is no valid ticket where the call was made, or the token "
    "reached the end of its life while the job ran. Executors work with tokens, not with the user's ticket.",
    "missing": "The client looked for credentials in all places that it knows and found none: the role of the instance "
    "or pod, environment, files. They may be there on the driver and not on executors.",
    "wrong": "The key or signature is not known to the service: another account's key, a secret with a character lost, "
    "or another endpoint or region than the key is for.",
    "expired": "Temporary credentials have a life of minutes to hours, and the job ran longer: they were copied in "
    "once instead of being renewed.",
    "account": "The pod is made for a service account that the namespace does not have: nothing starts. The driver "
    "needs one whose role may make, watch and delete pods, services and config maps there.",
    "pods": "Kubernetes refused what Spark's driver asked for: its service account has no role that allows it.",
    "iam": "The role that made the call has no policy that allows this action on this resource, or one that denies it.",
    "lake": "Lake Formation grants are needed beside IAM policies.",
    "gcs": "The service account has no role with this permission on the bucket.",
    "azure": "The identity has no data role (such as Storage Blob Data Contributor) or ACL on the path; a role to "
    "manage the account is not enough.",
    "s3": "S3 knows who asks and refuses (403): IAM policy of the role, bucket policy, ACL and object ownership, Block "
    "Public Access, object lock, a VPC endpoint's policy, an organization's policy or an access point's; an encrypted "
    "object also needs the KMS key.",
    "bare": "S3 answered 403 to a question for a file's state (HEAD), and such an answer has no body: whether the "
    "key is unknown, its secret is wrong, or the role lacks a right (s3:GetObject, s3:ListBucket, the KMS key) "
    "cannot be told from it. Without s3:ListBucket a file that is missing is answered so too.",
    "unknown": "The request arrived and was refused for the user or role that made it: its rights, not the data, are "
    "at fault.",
}


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    groups: list[tuple[Kind, list[Said]]] = by(said(run, ACCESS_DENIED.name), kind_of)
    for kind, rows in groups:
        yield _denied(run, kind, rows)


def kind_of(row: Said) -> Kind:
    """What refused; a 403 that is not S3's is unknown: it may be a web page's."""
    found = _groups(row)
    for kind, group in _KINDS:
        if group in found and (kind != "s3" or _S3.search(row.text)):
            return "bare" if kind == "s3" and _FORBIDDEN.search(row.text) and not _TOLD.search(row.text) else kind
    return "unknown"


def _groups(row: Said) -> dict[str, str]:
    """What all matches in the record say: a bare "403" often stands before the words that tell who may not do what."""
    found = groups_of(row, ACCESS_DENIED)
    for match in islice(re.finditer(ACCESS_DENIED.pattern, row.text, re.MULTILINE), _MOST_MATCHES):
        found = {**{name: text for name, text in match.groupdict().items() if text}, **found}
    return found


def _denied(run: Run, kind: Kind, rows: list[Said]) -> Finding:
    found: dict[str, str] = {}
    for row in rows:
        found = {**_groups(row), **found}
    text = "\n".join(row.text for row in rows[:50])
    path = _PATH.search(text)
    place = path[0].rstrip(":.") if path else ""
    on = f" to {place}" if place else ""
    requests = list(dict.fromkeys(_REQUEST.findall(text)))
    titles: dict[Kind, str] = {
        "hdfs": f"User {found.get('user')} may not {found.get('access', '').lower()} {found.get('inode')}",
        "kerberos": "Kerberos or a delegation token failed",
        "missing": f"No credentials were found{f' for {place}' if place else ' for the object store'}",
        "wrong": f"The access key or its signature is not accepted ({found.get('wrong')})",
        "expired": "Temporary credentials expired while the job ran",
        "account": f"The service account {found.get('nobody')} does not exist in the pod's namespace",
        "pods": f"Kubernetes refuses {found.get('account')} to {found.get('verb')} {found.get('resource')}",
        "iam": f"The role may not perform {found.get('action')}" + (f" on {found['arn']}" if "arn" in found else ""),
        "lake": "Lake Formation refused access: a grant is missing",
        "gcs": f"{found.get('gaccount')} lacks {found.get('gaction')}{on}",
        "azure": f"Azure Storage refused access{on}: the identity has no data role or ACL there",
        "s3": f"S3 refused access{on} (403 Access Denied)",
        "bare": f"S3 refused access{on} (403, no reason given): wrong access key or secret, or missing rights",
        "unknown": "Access was refused",
    }
    asked = f" For support: request ID {', '.join(requests[:3])}." if requests else ""
    return failure(
        run,
        rows,
        title=titles[kind],
        summary=_SUMMARY[kind] + asked,
        advice=access_advice(kind, found),
        confidence=0.6 if kind == "unknown" else 0.95,
    )


RULE = Rule(
    code="K15",
    name="access-denied",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(ACCESS_DENIED,),
)
