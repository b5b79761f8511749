/**
 * The documents of the API (D255): valid by the schemas of OpenAPI and AsyncAPI, complete, and served to everybody with
 * a tag. That they say what the server does is checked with every answer of the other tests (support/answer-check.ts).
 */
import asyncApiSchemas from "@asyncapi/specs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv } from "ajv";
import t from "tap";
import { closeCodes } from "../../schemas/close-codes.ts";
import { errorCodes } from "../../schemas/errors.ts";
import { endpoints } from "../../schemas/index.ts";
import { clientFrames } from "../../schemas/socket-frames.ts";
import { answerFault } from "../support/answer-check.ts";
import { checkFrame } from "../support/frame-check.ts";
import { exchange } from "../support/http.ts";
import { fetchPage } from "../support/pictures.ts";
import { startTestServer } from "../support/server.ts";
import { faultsOf, ops } from "../support/wire-events.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests look at documents of any shape
type Document = any;

const paths = ["/api/v1/openapi.json", "/api/v1/asyncapi.json", "/api/docs"] as const;

async function documentAt(url: string, path: string): Promise<Document> {
  return JSON.parse((await fetchPage(url, path)).bytes.toString("utf8"));
}

interface Found {
  readonly method: string;
  readonly path: string;
  readonly operation: Document;
}

function operationsOf(document: Document): Found[] {
  return Object.entries<Document>(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

/** Every reference in a document. */
function referencesIn(part: unknown): string[] {
  if (typeof part !== "object" || part === null) return [];
  return Object.entries(part).flatMap(([key, value]) =>
    key === "$ref" && typeof value === "string" ? [value] : referencesIn(value),
  );
}

function targetOf(document: Document, reference: string): unknown {
  return reference
    .slice(2)
    .split("/")
    .reduce((part, name) => part?.[name], document);
}

t.test("[D255] both documents are valid by the published schemas, and every reference has a target", async (t) => {
  const { url } = await startTestServer(t);
  const openApi = await documentAt(url, "/api/v1/openapi.json");
  const validator = new Validator();
  const checked = await validator.validate(structuredClone(openApi));
  t.strictSame(checked, { valid: true });
  t.equal(validator.version, "3.1");

  const asyncApi = await documentAt(url, "/api/v1/asyncapi.json");
  const ajv = new Ajv({ strict: false, logger: false });
  const isValid = ajv.compile(asyncApiSchemas.schemasWithoutId["3.0.0"] as object);
  t.ok(isValid(asyncApi), JSON.stringify(isValid.errors?.slice(0, 3)));

  for (const document of [openApi, asyncApi]) {
    const lost = referencesIn(document).filter((reference) => targetOf(document, reference) === undefined);
    t.strictSame(lost, []);
  }
  t.notOk((await validator.validate({ ...openApi, paths: { "no slash": {} } })).valid, "a fault would be found");
  t.notOk(isValid({ ...asyncApi, operations: { x: { action: "push" } } }), "in both");
});

t.test("[D255] the document has each operation once, with its parameters and its codes by status", async (t) => {
  const { url } = await startTestServer(t);
  const document = await documentAt(url, "/api/v1/openapi.json");
  const found = operationsOf(document);
  const ids = found.flatMap(({ operation }) => [operation.operationId, ...(operation["x-also"] ?? [])]);
  t.strictSame(ids.toSorted(), endpoints.map(({ operationId }) => operationId).toSorted());
  const forms = new Set(Object.keys(document.paths).map((path) => path.replaceAll(/\{\w+\}/g, "{}")));
  t.equal(forms.size, Object.keys(document.paths).length, "no two paths differ in the names of variables only");

  const byId = new Map(found.flatMap((one) => [[one.operation.operationId, one] as const]));
  for (const endpoint of endpoints) {
    const one = byId.get(endpoint.operationId);
    if (one === undefined) continue;
    const { parameters = [], requestBody, responses } = one.operation;
    const [form] = Object.values<Document>(requestBody?.content ?? {});
    const described = [...parameters, ...Object.values<Document>(form?.schema.properties ?? {})];
    const silent = described.filter((part) => part.$ref === undefined && !/\w{3}/.test(part.description ?? ""));
    t.strictSame(silent, [], `${endpoint.operationId} explains its parameters`);
    const named = new Set([
      ...parameters.flatMap((parameter: Document) => parameter.name?.split("_or_") ?? []),
      ...Object.keys(form?.schema.properties ?? {}),
    ]);
    for (const name of Object.keys(endpoint.params)) {
      t.ok(
        named.has(name) || [...named].some((other) => name.split("_or_").includes(other)),
        `${endpoint.operationId} ${name}`,
      );
    }
    for (const [status, response] of Object.entries<Document>(responses)) {
      const known = response.$ref === undefined ? response : (targetOf(document, response.$ref) as Document);
      if (!/\w{4}/.test(known.description)) t.fail(`${endpoint.operationId} ${status} has no description`);
    }
    const { properties } = (responses[200] ?? responses[302]).content["application/json"].schema;
    const mute = Object.entries<Document>(properties).filter(([, field]) => !/\w{3}/.test(field.description ?? ""));
    const seen = mute.map(([name]) => name);
    t.strictSame(seen, ["result", "msg"], `${endpoint.operationId} explains its answer`);
    const texts = Object.entries<Document>(responses).map(([status, response]) => {
      const known = response.$ref === undefined ? response : targetOf(document, response.$ref);
      return [status, JSON.stringify(known)] as const;
    });
    for (const code of endpoint.errors) {
      const text = texts.find(([status]) => status === String(errorCodes[code].status))?.[1] ?? "";
      t.match(text, new RegExp(`\`${code}\``), `${endpoint.operationId} ${code}`);
    }
  }
});

t.test("[D255] the OpenAPI document says how parameters are encoded in forms and queries", async (t) => {
  const { url } = await startTestServer(t);
  const { paths: items } = await documentAt(url, "/api/v1/openapi.json");
  const form = items["/messages"].post.requestBody.content["application/x-www-form-urlencoded"];
  t.strictSame(form.encoding, { to: { contentType: "application/json" } }, "content and type are raw text");
  t.strictSame(form.schema.required, ["type", "content"]);
  const queried = new Map<string, Document>(items["/messages"].get.parameters.map((one: Document) => [one.name, one]));
  t.ok(queried.get("narrow").content["application/json"].schema, "a list is JSON in the query");
  t.strictSame(queried.get("include_anchor").schema, { type: "boolean" }, "the JSON of a boolean is its plain text");
  const upload = items["/user_uploads"].post.requestBody.content["multipart/form-data"];
  t.equal(upload.schema.properties.file.contentMediaType, "application/octet-stream");
});

t.test("[D255] the AsyncAPI document has each frame, each form of an event and each close code", async (t) => {
  const { url } = await startTestServer(t);
  const document = await documentAt(url, "/api/v1/asyncapi.json");
  const received = Object.entries<Document>(document.operations).filter(([, { action }]) => action === "receive");
  t.strictSame(received.map(([name]) => name).toSorted(), Object.keys(clientFrames).toSorted());
  const kinds = document.components.schemas.Event.anyOf.map(({ $ref }: Document) => {
    const { type, op } = (targetOf(document, $ref) as Document).properties;
    return `${type.const} ${op?.const ?? ""}`.trim();
  });
  const declared = Object.entries(ops).flatMap(([type, some]) => some.map((op) => `${type} ${op}`.trim()));
  t.strictSame([...new Set(kinds)].toSorted(), declared.toSorted());
  for (const { code, reason } of Object.values(closeCodes)) {
    t.ok(document.channels.events.description.includes(`| ${code} | ${reason} |`), String(code));
  }
});

t.test("[D255] everybody gets the documents, with a tag, compressed or not, under a policy of their own", async (t) => {
  const { url, owner } = await startTestServer(t);
  for (const path of paths) {
    const first = await fetchPage(url, path, { "Accept-Encoding": "identity" });
    t.equal(first.status, 200, path);
    t.equal(first.headers.get("content-encoding"), null);
    t.match(first.headers.get("content-type"), path === "/api/docs" ? /^text\/html/ : /^application\/json$/);
    t.match(first.headers.get("content-security-policy"), /^default-src 'none';/);
    t.notMatch(first.headers.get("content-security-policy"), /unsafe|script/);
    t.match(first.headers.get("x-content-type-options"), "nosniff");
    const etag = first.headers.get("etag") ?? "";
    t.match(etag, /^W\/"[\w-]{22}"$/);

    const known = await fetchPage(url, path, {
      "If-None-Match": `"other", ${etag}`,
      Authorization: owner.authorization,
    });
    t.strictSame([known.status, known.bytes.length, known.headers.get("etag")], [304, 0, etag]);

    const head = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: br, gzip;q=0.5\r\n\r\n`;
    const raw = await exchange(url, head.replace("GET", "HEAD"), false);
    t.strictSame(
      [raw?.status, raw?.headers["content-encoding"], raw?.headers["vary"]],
      [200, "gzip", "Accept-Encoding"],
    );
    const refusing = await exchange(url, head.replace("q=0.5", "q=0").replace("GET", "HEAD"), false);
    t.equal(refusing?.headers["content-encoding"], undefined, "a client may forbid gzip");
    t.equal(refusing?.headers["content-length"], String(first.bytes.length));
    const packed = await fetch(`${url}${path}`, { headers: { "Accept-Encoding": "gzip" } });
    t.ok(Buffer.from(await packed.arrayBuffer()).equals(first.bytes), "the same content");
    t.ok(Number(raw?.headers["content-length"]) * 4 < first.bytes.length, "much smaller");
  }
  const odd = await fetchPage(url, "/api/docs/nothing");
  t.equal(odd.status, 404);
  const posted = await fetch(`${url}/api/v1/openapi.json`, { method: "POST" });
  t.strictSame([posted.status, posted.headers.get("allow")], [405, "GET, HEAD"]);
});

t.test("[D255, D28] the documents count against the limit of anonymous callers", async (t) => {
  const { url } = await startTestServer(t, { environment: { RATE_LIMITS: "anonymous=2/3600" } });
  const statuses: number[] = [];
  for (const path of paths) statuses.push((await fetchPage(url, path)).status);
  t.strictSame(statuses, [200, 200, 429]);
  const refused = await fetchPage(url, paths[0]);
  t.match(JSON.parse(refused.bytes.toString("utf8")), { result: "error", code: "RATE_LIMIT_HIT" });
  t.match(refused.headers.get("retry-after"), /^\d+$/);
});

t.test("[D255] the texts of the documents are sentences that refer to no page of this project", async (t) => {
  const { url } = await startTestServer(t);
  const openApi = await documentAt(url, "/api/v1/openapi.json");
  for (const { operation } of operationsOf(openApi)) {
    t.match(operation.summary, /^[A-Z].*\.$/s, operation.operationId);
  }
  const asyncApi = await documentAt(url, "/api/v1/asyncapi.json");
  for (const text of [openApi, asyncApi].map((document) => JSON.stringify(document))) {
    t.strictSame(text.match(/.{30}\((?:spec |behaviour |[DMES]\d+).{10}/g), null);
  }
});

t.test("[D255] an answer or an event that differs from the documents is found", async (t) => {
  const path = "/users/me/alert_words";
  const of = (status: number, body: unknown, tag: string | null = null) =>
    answerFault("GET", path, { status, body, header: (name) => (name === "ETag" ? tag : null) });
  const good = { result: "success", msg: "", alert_words: ["lunch"] };
  t.equal(of(200, good), null);
  t.match(of(200, { ...good, more: 1 }), /additional properties.*more/);
  t.match(of(200, { ...good, alert_words: [1] }), /alert_words\/0 must be string/);
  t.match(of(200, { result: "success", msg: "" }), /required property 'alert_words'/);
  t.match(of(200, good, '"tag"'), /an undeclared header ETag/);
  t.match(of(409, { result: "error", msg: "x", code: "CHANNEL_ALREADY_EXISTS" }), /does not declare status 409/);
  t.match(of(400, { result: "error", msg: "x", code: "BAD_NARROW", desc: "x" }), /get-alert-words 400/, "another code");
  t.match(of(400, { result: "error", msg: "x", code: "REQUEST_VARIABLE_MISSING" }), /var_name/, "a field of the code");
  const event = { type: "alert_words", id: 1, alert_words: ["lunch"] };
  t.strictSame(faultsOf([event]), []);
  t.equal(faultsOf([{ ...event, op: "add" }]).length, 1);
  t.equal(faultsOf([{ ...event, id: "1" }]).length, 1);
  t.throws(() => checkFrame({ type: "event", event: { ...event, more: 1 } }, undefined), /more/);
  t.throws(() => checkFrame({ type: "reply", result: "error", msg: "x", code: "NONE" }, undefined), /code/);
});
