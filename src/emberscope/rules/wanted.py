"""What all rules together look for in logs."""

from typing import Final

from emberscope.logs.signature import Signature
from emberscope.rules.catalog import RULES

SIGNATURES: Final[tuple[Signature, ...]] = tuple(signature for rule in RULES for signature in rule.signatures)
