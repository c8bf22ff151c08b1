# What schemathesis must not do to the daemon that it asks; .ci/schemathesis runs it.

import schemathesis

OWN = "schemathesis"


@schemathesis.hook
def before_call(context, case, kwargs):
    """Revoking the token by which it asks would leave nothing but refusals; tests/live/web.rs revokes tokens."""
    if case.operation.path == "/v1/tokens/{name}" and case.path_parameters.get("name") == OWN:
        case.path_parameters["name"] = "another"
