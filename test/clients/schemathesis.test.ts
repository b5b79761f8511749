/**
 * Schemathesis, unmodified: requests that it draws from the OpenAPI document, fitting and spoiled ones. Every answer has
 * a status that the operation declares, the body and the headers of that status, and none is a fault of the server.
 *
 * `EXAMPLES` (2 of each operation) and `SEED` make longer and other runs. `PHASES=coverage` goes through the bounds
 * of every parameter, which takes minutes.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import type { Client } from "../support/client.ts";
import { fetchPage } from "../support/pictures.ts";
import { clientProgram, pythonObstacle, runPython } from "../support/python.ts";
import { seedOf } from "../support/seed.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

const skip = pythonObstacle("schemathesis") ?? false;

const { EXAMPLES = "2", PHASES = "examples,fuzzing" } = process.env;

const checks = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
  "unsupported_method",
  "allow_header_conformance",
];

/** After these, no request of the caller would succeed. */
const excluded = ["regenerate-own-api-key", "deactivate-realm"];

/** @param document a URL, or a file */
function run(t: Test, owner: Client, document: string, more: readonly string[] = []) {
  const { email, key } = owner.account ?? {};
  const options = [
    ...["--auth", `${email}:${key}`, "--checks", checks.join(","), "--phases", PHASES],
    ...["--max-examples", EXAMPLES, "--seed", String(seedOf(t)), "--no-shrink", "--continue-on-failure"],
    ...["--generation-database", "none", "--warnings", "off", "--no-color"],
    ...excluded.flatMap((id) => ["--exclude-operation-id", id]),
    ...more,
  ];
  const program = ["-c", "from schemathesis.cli import schemathesis; schemathesis()", "run", document, ...options];
  const environment = { PYTHONPATH: clientProgram(""), SCHEMATHESIS_HOOKS: "schemathesis_hooks" };
  return runPython(t, program, environment).exited;
}

/** A failure can repeat a long query. */
function shown(output: string): string {
  return output
    .split("\n")
    .map((line) => line.slice(0, 400))
    .join("\n");
}

t.test("[D255] schemathesis finds no status, header or body the document does not declare", { skip }, async (t) => {
  const { owner, url } = await startTestServer(t);
  const { code, stdout, stderr } = await run(t, owner, `${url}/api/v1/openapi.json`);
  t.equal(code, 0, shown(stdout + stderr));
  const [, cases = "0"] = /Test cases:\s+(\d+) generated/.exec(stdout) ?? [];
  t.ok(Number(cases) > 200, `${cases} requests`);
});

t.test("[D255] schemathesis would find a status that the document lacks", { skip }, async (t) => {
  const { owner, url } = await startTestServer(t);
  const document = JSON.parse((await fetchPage(url, "/api/v1/openapi.json")).bytes.toString("utf8"));
  const path = "/messages/{message_id}/reactions";
  delete document.paths[path].post.responses["400"];
  const file = join(temporaryFolder(t), "openapi.json");
  writeFileSync(file, JSON.stringify(document));
  const { code, stdout } = await run(t, owner, file, ["--url", `${url}/api/v1`, "--include-path", path]);
  t.equal(code, 1, shown(stdout));
  t.match(stdout, /Undocumented status code/);
});
