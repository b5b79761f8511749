"""How schemathesis encodes a form: a property with the encoding application/json is JSON text, everything else is plain.
It takes ids from answers, so it may find a queue whose events it would wait for: no poll is held."""

import json
from urllib.parse import urlencode

import schemathesis

FORM = "application/x-www-form-urlencoded"


def text_of(value: object, is_json: bool) -> str:
    if isinstance(value, str) and not is_json:
        return value
    return json.dumps(value)


@schemathesis.serializer(FORM)
def encode_form(ctx: schemathesis.SerializationContext, value: object) -> bytes | None:
    if not isinstance(value, dict):
        return None
    body = ctx.case.operation.definition.raw.get("requestBody", {})
    encoding = body.get("content", {}).get(FORM, {}).get("encoding", {})
    pairs = [(name, text_of(each, name in encoding)) for name, each in value.items()]
    return urlencode(pairs, errors="surrogatepass").encode()


@schemathesis.hook
def map_query(ctx: schemathesis.HookContext, query: dict | None) -> dict | None:
    if ctx.operation.label != "GET /events" or not query:
        return query
    return {**query, "dont_block": True}
