/**
 * The examples of the API documents (D255): each operation has one, which is what a server accepted and answered.
 * `UPDATE_DOCS=1` records them anew.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { endpoints } from "../../schemas/index.ts";
import { asyncApiDocument } from "../../src/api-documents/asyncapi.ts";
import {
  type Examples,
  type FrameExamples,
  loadExamples,
  loadFrameExamples,
} from "../../src/api-documents/examples.ts";
import { openApiDocument } from "../../src/api-documents/openapi.ts";
import { DocumentCheck, type JsonSchema } from "../support/document-check.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { checkout } from "../support/process.ts";
import { startTestServer } from "../support/server.ts";
import { recordFrames } from "./frame-recorder.ts";
import { playAll } from "./plays.ts";
import { Recorder } from "./recorder.ts";

const file = join(checkout, "src/api-documents/examples.json");
const frameFile = join(checkout, "src/api-documents/frame-examples.json");
const site = "https://chat.example.com";

/** One operation or frame a line. */
function linesOf(examples: Iterable<readonly [string, unknown]>): string {
  const lines = [...examples].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{\n${lines.map(([id, example]) => `${JSON.stringify(id)}: ${JSON.stringify(example)}`).join(",\n")}\n}\n`;
}

t.test("[D255] each operation has an example: a request that a server accepts, and its answer", async (t) => {
  const clock = new ManualClock(Date.UTC(2026, 5, 1, 12));
  const server = await startTestServer(t, { clock, environment: { SITE_URL: site, REALM_NAME: "Kitchen" } });
  const recorder = new Recorder(server.owner, site);
  await playAll(server, recorder);
  const ids = endpoints.map(({ operationId }) => operationId).toSorted();
  t.strictSame([...recorder.examples.keys()].toSorted(), ids);
  if (process.env["UPDATE_DOCS"] === "1") writeFileSync(file, linesOf(recorder.examples));
  const kept = JSON.parse(readFileSync(file, "utf8")) as Examples;
  const shape = (examples: Examples) =>
    Object.fromEntries(
      Object.entries(examples).map(([id, { params, answer }]) => [id, [shapeOf(params), shapeOf(answer)]]),
    );
  t.strictSame(shape(kept), shape(Object.fromEntries(recorder.examples)), "UPDATE_DOCS=1 records them anew");
  t.notMatch(readFileSync(file, "utf8"), server.owner.account?.key ?? "", "no key of a server");
});

// biome-ignore lint/suspicious/noExplicitAny: a document of any shape
type Document = any;

/** Names and types, at any depth; of lists, the first item's. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== "object" || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]));
}

/** Every example in the document with its schema and its place. */
function examplesIn(part: Document, place = ""): { place: string; value: unknown; schema: JsonSchema }[] {
  if (typeof part !== "object" || part === null) return [];
  const own =
    Object.hasOwn(part, "example") && part.schema !== undefined
      ? [{ place, value: part.example, schema: part.schema }]
      : [];
  return [...own, ...Object.entries(part).flatMap(([name, inner]) => examplesIn(inner, `${place}/${name}`))];
}

t.test("[D255] the examples are valid by the schemas beside them", async (t) => {
  const document = openApiDocument(await loadExamples());
  const check = new DocumentCheck("examples", document.components);
  const found = examplesIn(document.paths);
  t.ok(found.length > endpoints.length, `${found.length} examples`);
  for (const { place, value, schema } of found) t.equal(check.compile(schema)(value), null, place);
  const broken = { ...(await loadExamples()) };
  broken["send-message"] = { params: { type: 1 }, answer: { result: "success", msg: "", id: "one" } };
  const faults = examplesIn(openApiDocument(broken).paths).filter(
    ({ value, schema }) => check.compile(schema)(value) !== null,
  );
  const seen = faults.map(({ place }) => place.slice(0, 30));
  t.strictSame(seen, ["//messages/post/requestBody/co", "//messages/post/responses/200/"], "a fault would be found");
});

t.test("[D255] the examples of frames are what a session on a server's WebSocket has", async (t) => {
  const clock = new ManualClock(Date.UTC(2026, 5, 1, 12));
  const { owner } = await startTestServer(t, { clock, environment: { SITE_URL: site, REALM_NAME: "Kitchen" } });
  await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "kitchen" }] });
  const { body } = await owner.get("/get_stream_id", { stream: "kitchen" });
  const recorder = new Recorder(owner, site);
  const frames = await recordFrames(owner, {
    channelId: body.stream_id,
    cleaned: (text) => recorder.cleaned(text),
  });
  if (process.env["UPDATE_DOCS"] === "1") writeFileSync(frameFile, linesOf(Object.entries(frames)));
  const kept = JSON.parse(readFileSync(frameFile, "utf8")) as FrameExamples;
  t.strictSame(shapeOf(kept), shapeOf(frames), "UPDATE_DOCS=1 records them anew");
  t.notMatch(readFileSync(frameFile, "utf8"), owner.account?.key ?? "", "no key of a server");
});

/** A rejection is a frame and an error, and neither schema knows the other's properties. */
function faultOf(frames: DocumentCheck, name: string, schema: JsonSchema, example: Document): string | null {
  if (name !== "rejection") return frames.compile(schema)(example);
  const { type, ref, ...error } = example;
  if (type !== "reply" || typeof ref !== "string") return "no reply";
  return frames.compile({ $ref: "#/components/schemas/Error" })(error);
}

t.test("[D255] each frame of the WebSocket has an example, valid by its schema", async (t) => {
  const check = (examples: FrameExamples) => {
    const { messages, schemas } = asyncApiDocument(examples).components;
    const frames = new DocumentCheck("frames", { schemas });
    return Object.entries(messages as Readonly<Record<string, Document>>).map(
      ([name, { payload, examples: shown }]) => {
        const [example] = (shown ?? []) as { payload: unknown }[];
        return [name, example === undefined ? "no example" : faultOf(frames, name, payload, example.payload)] as const;
      },
    );
  };
  const found = check(await loadFrameExamples());
  t.ok(found.length > 15, `${found.length} messages`);
  for (const [name, fault] of found) t.equal(fault, null, name);
  const broken = { ...(await loadFrameExamples()), pong: { type: "ping" } };
  const seen = check(broken).flatMap(([name, fault]) => (fault === null ? [] : [name]));
  t.strictSame(seen, ["pong"], "a fault would be found");
});
