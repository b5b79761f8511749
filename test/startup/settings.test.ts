/** Where settings come from: the environment, and the file of `--config`; and what `--help` says about them. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { BadConfig, readConfig, variables } from "../../src/app/config.ts";
import { configFileBytesMax, withConfigFile } from "../../src/app/config-file.ts";
import { serveHelp } from "../../src/app/config-help.ts";
import { checkout, Program } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";

function fileWith(t: Test, text: string): string {
  const file = join(temporaryFolder(t), "settings");
  writeFileSync(file, text);
  return file;
}

t.test("the environment takes precedence over the file, the file over defaults", async (t) => {
  const file = fileWith(
    t,
    '# a comment\n\nPORT = 1234\nREALM_NAME="Two words # and no comment"\n  HOST=::1\nMAIL_FROM=\n',
  );
  const config = readConfig(withConfigFile({ PORT: "4321", HOST: "", SITE_URL: undefined }, file));
  t.equal(config.port, 4321);
  t.equal(config.host, "::1", "an empty variable counts as absent");
  t.equal(config.realmName, "Two words # and no comment");
  t.equal(config.logLevel, "warn");
});

const secret = "aPasswordThatIsLong";
const refused: readonly (readonly [text: string, why: RegExp])[] = [
  ["PORT=1\nPROT=2", /line 2: PROT is not a setting: see colloquy serve --help$/],
  ["PORT=1\nPORT=2", /line 2: PORT is set twice$/],
  [`# one\n${secret}`, /line 2: it must be NAME=value$/],
  [`OWNER_PASSWORD ${secret}`, /line 1: it must be NAME=value$/],
  ["#".repeat(configFileBytesMax + 1), /it has more than 65536 bytes$/],
];

t.test("a file that is wrong gives one line without its values", async (t) => {
  for (const [text, why] of refused) {
    const file = fileWith(t, text);
    try {
      withConfigFile({}, file);
      t.fail(text.slice(0, 40));
    } catch (error) {
      t.type(error, BadConfig);
      const { message } = error as Error;
      t.match(message, why);
      t.notMatch(message, secret);
      t.notMatch(message, "\n");
    }
  }
  t.equal(withConfigFile({}, fileWith(t, "#".repeat(configFileBytesMax)))["PORT"], undefined, "at the bound");
});

const missingFile = /--config \/no\/such\/file cannot be read: ENOENT/;

const wrongCalls: readonly (readonly [args: readonly string[], why: RegExp])[] = [
  [["serve", "--prot", "1"], /Unknown option '--prot': see colloquy serve --help/],
  [["serve", "now"], /Unexpected argument 'now'/],
  [["serve", "--config", "/no/such/file"], missingFile],
  [["--config", "/no/such/file", "serve"], missingFile],
  [["--config=/no/such/file"], missingFile],
];

t.test("a wrong option ends with 78 and one line, and changes nothing", async (t) => {
  for (const [args, why] of wrongCalls) {
    const dataDir = join(temporaryFolder(t), "data");
    const call = ["colloquy.mjs", ...args];
    const { code, stdout, stderr } = await new Program(t, process.execPath, call, { DATA_DIR: dataDir }).exited;
    t.strictSame({ code, stdout }, { code: 78, stdout: "" });
    t.match(stderr, /^colloquy: [^\n]+\n$/);
    t.match(stderr, why);
  }
});

t.test("--help and the documents list every setting with its default", async (t) => {
  const help = serveHelp();
  const page = readFileSync(join(checkout, "docs/operations.md"), "utf8");
  const rows = new Map(
    [...page.matchAll(/^\| `([A-Z0-9_]+)` \| ([^|]*) \|/gm)].map(([, name = "", cell = ""]) => [name, cell]),
  );
  for (const { name } of Object.values(variables)) {
    const [, shown = ""] = new RegExp(`^  ${name}\n.*\n      default (.*); accepts`, "m").exec(help) ?? [];
    t.ok(shown.length > 0, `${name} in --help`);
    const cell = rows.get(name) ?? "";
    t.ok(cell.length > 0, `${name} in docs/operations.md`);
    const [, documented] = /^`([^`]+)`/.exec(cell) ?? [];
    if (documented !== undefined) t.equal(documented, shown, `the default of ${name}`);
  }
});

t.test("`colloquy` names the server and the version of the program", async (t) => {
  const run = (...args: readonly string[]) => new Program(t, process.execPath, ["colloquy.mjs", ...args], {}).exited;
  t.match(await run("--help"), { code: 0, stdout: /`colloquy serve` runs the server/ });
  const { version } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")) as { version: string };
  t.match(await run("--version"), { code: 0, stdout: `${version}\n` });
  t.match(await run("serve", "--help"), { code: 0, stdout: serveHelp() });
});
