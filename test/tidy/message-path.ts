/**
 * Prints the files that one message passes from the request to its answer: those in which a function runs for each of
 * several posts, as V8 counts them. A program of its own, because `npm test` bundles tests with the server's files.
 */
import { Session } from "node:inspector/promises";
import { startTestServer } from "../support/server.ts";

const posts = 5;
const own = /\/((?:src|actors|domain|schemas)\/[\w/-]+\.ts)$/;

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
  }[];
}

function filesIn({ result }: Coverage): string[] {
  const ran = result.filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0));
  return ran.flatMap(({ url }) => own.exec(url)?.slice(1) ?? []);
}

const ends: (() => unknown)[] = [];
const { owner } = await startTestServer({ teardown: (end) => ends.push(end) });
const post = () => owner.post("/messages", { type: "channel", to: "general", topic: "lunch", content: "Soup?" });
await post();
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
let passed: readonly string[] | null = null;
for (let count = 0; count < posts; count++) {
  await session.post("Profiler.takePreciseCoverage");
  const { status } = await post();
  if (status !== 200) throw new Error(`a post was answered with ${status}`);
  const files = filesIn((await session.post("Profiler.takePreciseCoverage")) as Coverage);
  passed = passed === null ? files : passed.filter((file) => files.includes(file));
}
session.disconnect();
for (const end of ends.reverse()) await end();
process.stdout.write(JSON.stringify([...(passed ?? [])].sort()));
