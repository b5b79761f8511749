/**
 * One hostile request for an operation, derived from its declaration: all parameters fit, or all but one, or none; then
 * they are serialized in one of the ways that a request allows, correctly or not. An input is plain data: a printed
 * input can be sent again.
 */
import fc from "fast-check";
import { LRUCache } from "lru-cache";
import { type Endpoint, wireOf } from "../../schemas/endpoint.ts";
import { limits } from "../../schemas/limits.ts";
import { hostile, type Plain } from "../support/schema-values.ts";
import type { SenderRole } from "./senders.ts";
import { senderRoles } from "./senders.ts";
import { own, thingOf } from "./things.ts";
import { agreeing, likelyFor } from "./vocabulary.ts";

export interface Input {
  readonly operationId: string;
  readonly as: SenderRole;
  readonly method: string;
  /** Path below /api/v1 and query, percent-encoded. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes as latin1; null: none. */
  readonly body: string | null;
  readonly isChunked: boolean;
}

/** Values in a form that violate the schema. */
const broken: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "",
    "null",
    "NaN",
    "-0",
    "1e999",
    "9007199254740993",
    `${"9".repeat(400)}`,
    '"',
    '{"__proto__":{"a":1}}',
    '"\\ud800"',
    "[1,]",
    "{}",
    "[[[]]]",
    '{"a":1,"a":2}',
    "true ",
    "'1'",
  ),
  fc.constantFrom(limits.json_nesting_max, limits.json_nesting_max + 1, 3000).map((depth) => "[".repeat(depth)),
  fc.constantFrom(limits.json_nesting_max + 1, 3000).map((depth) => `${"[".repeat(depth)}${"]".repeat(depth)}`),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom("x", "🍎", "\u0000").map((character) => character.repeat(3000)),
);

export type Fields = readonly (readonly [name: string, value: string])[];

function textOf(declared: Plain, value: unknown): string {
  return typeof value === "string" && wireOf(declared as never) !== "json" ? value : (JSON.stringify(value) ?? "");
}

type Field = fc.Arbitrary<readonly [name: string, value: string]>;

/** A value that fits: mostly an existing record, where the parameter refers to one. */
function goodField(operationId: string, name: string, schema: Plain): Field {
  const some = likelyFor(operationId, schema, name).map((value) => [name, textOf(schema, value)] as const);
  const thing = thingOf(operationId, name);
  if (thing === null) return some;
  return fc.oneof({ weight: 4, arbitrary: fc.constant([name, own(thing)] as const) }, { weight: 1, arbitrary: some });
}

function badField(name: string, schema: Plain): Field {
  return fc
    .oneof(
      { weight: 4, arbitrary: hostile(schema).map((value) => textOf(schema, value)) },
      { weight: 1, arbitrary: broken },
    )
    .map((text) => [name, text] as const);
}

/** The number of parameters sent at a time for an operation that has very many. */
const fieldsMax = 6;

/** Parameters as text: all fit, or all but one, or none. */
export function fieldsOf(endpoint: Endpoint): fc.Arbitrary<Fields> {
  const schemas = Object.entries(JSON.parse(JSON.stringify(endpoint.params)) as Record<string, Plain>);
  const named = (endpoint.paramsSchema as { required?: readonly string[] }).required ?? [];
  const hasDefault = (name: string) => (endpoint.params[name] as { default?: unknown }).default !== undefined;
  const required = new Set(named.filter((name) => !hasDefault(name)));
  const good = new Map(schemas.map(([name, schema]) => [name, goodField(endpoint.operationId, name, schema)]));
  const bad = new Map(schemas.map(([name, schema]) => [name, badField(name, schema)]));
  const optional = schemas.map(([name]) => name).filter((name) => !required.has(name));
  return fc
    .record({
      // Only a few, because parameters may exclude one another.
      chosen: fc.oneof(
        ...[0, 1, 2, fieldsMax].map((most) => fc.subarray(optional, { maxLength: Math.min(most, optional.length) })),
      ),
      // Number of invalid parameters: mostly none or one.
      spoiled: fc.constantFrom(0, 0, 0, 0, 1, 1, 1, 99),
      from: fc.nat(),
    })
    .chain(({ chosen, spoiled, from }) => {
      const names = [...required, ...chosen];
      const arbitraries = names.map((name, index) => {
        const isBad = (index + from) % Math.max(1, names.length) < spoiled;
        return (isBad ? bad : good).get(name) ?? fc.constant([name, ""] as const);
      });
      return fc.tuple(...arbitraries).map((fields) => (spoiled === 0 ? agreeing(fields, from) : fields));
    });
}

/** Encodings of the texts at the bounds, which are drawn repeatedly: encoding 10,000 wide characters takes 2 ms. */
const encodedLong = new LRUCache<string, string>({ maxSize: 4_000_000, sizeCalculation: (text) => text.length });
const longFrom = 500;

function encode(text: string): string {
  if (text.length < longFrom) return encodeNew(text);
  const known = encodedLong.get(text);
  if (known !== undefined) return known;
  const encoded = encodeNew(text);
  encodedLong.set(text, encoded);
  return encoded;
}

/** Like encodeURIComponent, except that a lone surrogate becomes three bytes of invalid UTF-8. */
function encodeNew(text: string): string {
  if (!/\p{Cs}/u.test(text)) return encodeURIComponent(text);
  return text
    .split(/\p{Cs}/u)
    .map(encodeURIComponent)
    .join("%ED%A0%80");
}

function encodeFields(fields: Fields): string {
  return fields.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
}

const boundary = "fuzzfuzz";

function multipartOf(fields: Fields, file: string | null): string {
  const parts = fields.map(
    ([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${encode(name)}"\r\n\r\n${Buffer.from(value).toString("latin1")}\r\n`,
  );
  if (file !== null) parts.push(`--${boundary}\r\n${file}\r\n`);
  return `${parts.join("")}--${boundary}--\r\n`;
}

const pngStart = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ", "base64").toString("latin1");
const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const fileBytes = fc.oneof(
  fc.constant(Buffer.from(onePixel, "base64").toString("latin1")),
  fc.constantFrom("", "x", "GIF89a\x01\0\x01\0\0\0\0;", "<svg onload=alert(1)>", "%PDF-1.7", "RIFF\0\0\0\0WEBPVP8 "),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => pngStart + Buffer.from(bytes).toString("latin1")),
);
const fileName = fc.constantFrom(
  '"a.png"',
  '"../../a.html"',
  '"a\\".svg"',
  '""',
  "a",
  '"\x00"',
  '"a\xff.pdf"',
  `"${"n".repeat(900)}"`,
);
const filePart = fc
  .record({ bytes: fileBytes, name: fileName, field: fc.constantFrom("file", "f", "", "__proto__") })
  .map(
    ({ bytes, name, field }) =>
      `Content-Disposition: form-data; name="${field}"; filename=${name}\r\nContent-Type: image/png\r\n\r\n${bytes}`,
  );

const surplusNames = fc.constantFrom("unknown", "__proto__", "constructor", "", "n".repeat(2000), "\u0000", "é");
const oddHeaders = fc.constantFrom<Readonly<Record<string, string>>>(
  ...Array.from({ length: 16 }, () => ({})),
  { "Idempotency-Key": "the same" },
  { "Idempotency-Key": "k".repeat(300) },
  { "If-None-Match": "*" },
  { "If-None-Match": 'W/"x", "y"' },
  { "User-Agent": "ZulipMobile/27.0 (\xff)" },
  { Origin: "https://evil.example" },
  { Authorization: "Basic !!!!" },
  { Authorization: `Basic ${"A".repeat(800)}` },
  { Range: "bytes=9-1" },
  { "X-Forwarded-For": "1.2.3.4, not an address" },
  { Host: "sales.example.org" },
);

/** Changes to a valid request as a whole, by weight: expensive ones with constant bytes are rare. */
const mutationWeights = {
  none: 120,
  "in the query": 10,
  multipart: 10,
  chunked: 10,
  twice: 10,
  surplus: 10,
  "as JSON": 10,
  "other method": 10,
  "broken encoding": 10,
  "many names": 4,
  large: 1,
} as const;
type Mutation = keyof typeof mutationWeights;

const mutations = fc.oneof(
  ...Object.entries(mutationWeights).map(([mutation, weight]) => ({
    weight,
    arbitrary: fc.constant(mutation as Mutation),
  })),
);

interface Drawn {
  readonly fields: Fields;
  readonly mutation: Mutation;
  readonly as: SenderRole;
  readonly headers: Readonly<Record<string, string>>;
  readonly surplus: string;
  readonly file: string;
  readonly method: string;
}

/** Senders with many permissions send most. */
const senders = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(...senderRoles) },
  { weight: 2, arbitrary: fc.constantFrom<SenderRole>("owner", "owner", "administrator", "member") },
);

/** The library itself rejects a larger head, without the envelope. */
const pathValueBytesMax = 1200;
const queryBytesMax = 1600;

export function inputsFor(endpoint: Endpoint): fc.Arbitrary<Input> {
  // Without bias: edge cases are drawn explicitly, and the first element of a list is no more interesting than the
  // others.
  const parts = fc.noBias(
    fc.record({
      fields: fieldsOf(endpoint),
      mutation: mutations,
      as: senders,
      headers: oddHeaders,
      surplus: surplusNames,
      file: filePart,
      method: fc.constantFrom("GET", "POST", "PATCH", "DELETE", "PUT", "HEAD", "OPTIONS", "TRACE"),
    }),
  );
  return parts.map((drawn) => inputOf(endpoint, drawn));
}

function inputOf(endpoint: Endpoint, { fields, mutation, as, headers, surplus, file, method }: Drawn): Input {
  const isInPath = (name: string) => endpoint.path.includes(`{${name}}`) || endpoint.path.includes(`{${name}*}`);
  const path = endpoint.path.replaceAll(/\{(\w+)\*?\}/g, (_all, name: string) => {
    const value = fields.find(([each]) => each === name)?.[1] ?? "";
    return encode(value).slice(0, pathValueBytesMax);
  });
  let form = fields.filter(([name]) => !isInPath(name));
  // A poll of an existing queue would be held.
  if (endpoint.operationId === "get-events")
    form = [...form.filter(([name]) => name !== "dont_block"), ["dont_block", "true"]];
  if (mutation === "surplus") form = [...form, [surplus, "1"]];
  if (mutation === "twice" && form[0] !== undefined) form = [...form, form[0]];
  if (mutation === "many names")
    form = [...form, ...Array.from({ length: 300 }, (_, index) => [`n${index}`, ""] as const)];
  if (mutation === "large") form = [...form, ["content", "x".repeat(200_000)]];
  let encoded = encodeFields(form);
  if (mutation === "broken encoding") encoded += "&a=%zz&b=%ff";
  const used = mutation === "other method" ? method : endpoint.method;
  const isAsked = used === "GET" || used === "HEAD" || mutation === "in the query";
  const common = { operationId: endpoint.operationId, as, method: used };
  if (endpoint.upload !== undefined || mutation === "multipart") {
    const body = multipartOf(form, endpoint.upload === undefined ? null : file);
    const type = { "Content-Type": `multipart/form-data; boundary=${boundary}` };
    return { ...common, target: path, headers: { ...headers, ...type }, body, isChunked: false };
  }
  if (isAsked && encoded.length <= queryBytesMax) {
    return { ...common, target: encoded === "" ? path : `${path}?${encoded}`, headers, body: null, isChunked: false };
  }
  const isJson = mutation === "as JSON";
  const body = isJson ? Buffer.from(JSON.stringify(Object.fromEntries(form))).toString("latin1") : encoded;
  const type = { "Content-Type": isJson ? "application/json" : "application/x-www-form-urlencoded" };
  return { ...common, target: path, headers: { ...headers, ...type }, body, isChunked: mutation === "chunked" };
}
