// `idle-organizations`: memory and open files of organizations that were asked once and then do nothing, read in steps;
// the slope is the cost of one. The baseline is as many organizations of another server that nobody has asked anything
// since its start, so that they are closed.

import { setTimeout as wait } from "node:timers/promises";
import { basicAuthorization } from "../lib/http-request.ts";
import { measureOf } from "../lib/measures.ts";
import { createOrganizations, hostOf, OWNER } from "../lib/organization.ts";
import { countOpenFiles, readMemory } from "../lib/process-usage.ts";
import type { Line, Outcome } from "../lib/result.ts";
import type { Context, Scenario } from "../lib/scenario.ts";
import type { Server } from "../lib/target.ts";
import { TimedCalls } from "../lib/timed-calls.ts";

const MEGABYTE = 1024 * 1024;
const TARGET_MB = 1;
/** The first ones also load and compile code, which is not counted. */
const FIRST_SHARE = 0.25;

export const idleOrganizations: Scenario = {
  name: "idle-organizations",
  summary: "memory and open files per organization that is open and idle",
  baseline: "ours",
  supportsUrl: false,
  sizes: {
    tiny: { ...common(4), durationSeconds: 0.05, runs: 1 },
    small: { ...common(100), durationSeconds: 1, runs: 1 },
    full: { ...common(1_000), durationSeconds: 15, runs: 1 },
  },
  run,
};

/** @param connections number of organizations */
function common(connections: number) {
  return { connections, ratePerSecond: 0, warmupSeconds: 0, users: 0, receivers: 0 };
}

interface Use {
  readonly organizations: number;
  readonly pssBytes: number | null;
  readonly files: number | null;
}

/** Use of a process before and after a number of organizations came in addition. */
interface Growth {
  readonly before: Use;
  readonly after: Use;
  readonly answered: number;
}

async function run(context: Context): Promise<Outcome> {
  const { settings, progress } = context;
  const pair = { ours: [] as Growth[], baseline: [] as Growth[] };
  progress.plan(2 * settings.runs);
  for (let index = 0; index < settings.runs; index += 1) {
    progress.label(`idle-organizations: ${settings.connections}, run ${index + 1} of ${settings.runs}`);
    pair.ours.push(await growthByOpening(context));
    progress.advance(1);
    pair.baseline.push(await growthByExisting(context));
    progress.advance(1);
  }
  const ours = pair.ours.at(-1);
  const count = settings.connections;
  return {
    measures: [
      measureOf(
        { key: "pss_per_organization_mb", title: "memory (PSS) per open one; closed", unit: "MB", better: "lower" },
        pair,
        (growth) => scaled(perOrganization(growth, "pssBytes")),
      ),
      measureOf(
        { key: "files_per_organization", title: "open files per open one; closed", unit: "", better: "lower" },
        pair,
        (growth) => perOrganization(growth, "files"),
      ),
      measureOf(
        { key: "pss_mb", title: `memory (PSS) with ${count}, all open; closed`, unit: "MB", better: "lower" },
        pair,
        ({ after }) => scaled(after.pssBytes),
      ),
    ],
    series: [
      {
        kind: "memory",
        title: "memory over organizations",
        xUnit: "organizations",
        yUnit: "MB",
        lines: [lineOf("ours", ours), lineOf("baseline", pair.baseline.at(-1))],
      },
    ],
    checks: [
      { name: "each organization answered", ok: ours?.answered === count, detail: `${ours?.answered} of ${count}` },
    ],
    notes: [`The target is ${TARGET_MB} MB for an open one. Garbage that was not collected counts.`],
  };
}

async function growthByOpening(context: Context): Promise<Growth> {
  const { connections: count } = context.settings;
  let keys: readonly string[] = [];
  const server = await context.openServer(async (folder) => {
    keys = await createOrganizations(folder, count);
  });
  const firstCount = Math.ceil(FIRST_SHARE * count);
  let answered = await ask(server, keys, { from: 0, to: firstCount });
  const before = await useOf(context, server, firstCount);
  answered += await ask(server, keys, { from: firstCount, to: count });
  const after = await useOf(context, server, count);
  await server.stop();
  return { before, after, answered };
}

async function growthByExisting(context: Context): Promise<Growth> {
  const uses: Use[] = [];
  for (const organizations of [1, context.settings.connections]) {
    const server = await context.openServer(async (folder) => {
      await createOrganizations(folder, organizations);
    });
    uses.push(await useOf(context, server, organizations));
    await server.stop();
  }
  const [before, after] = uses as [Use, Use];
  return { before, after, answered: 0 };
}

/** Opens each by a request. @returns how many answered */
async function ask(server: Server, keys: readonly string[], { from, to }: { from: number; to: number }) {
  let answered = 0;
  for (let index = from; index < to; index += 1) {
    const calls = new TimedCalls(server, basicAuthorization(OWNER.email, keys[index] ?? ""), hostOf(index));
    const { body } = await calls.call("GET", "/users/me");
    calls.close();
    if ((JSON.parse(body.toString("utf8")) as { readonly user_id: number }).user_id === OWNER.id) answered += 1;
  }
  return answered;
}

async function useOf({ settings }: Context, { watch }: Server, organizations: number): Promise<Use> {
  await wait(settings.durationSeconds * 1000);
  const pid = watch?.pid ?? 0;
  return { organizations, pssBytes: readMemory(pid)?.pssBytes ?? null, files: countOpenFiles(pid) };
}

function lineOf(label: string, growth: Growth | undefined): Line {
  const uses = growth === undefined ? [] : [growth.before, growth.after];
  return { label, points: uses.map(({ organizations, pssBytes }) => [organizations, scaled(pssBytes) ?? 0]) };
}

function perOrganization({ before, after }: Growth, key: "pssBytes" | "files"): number | null {
  const [less, more] = [before[key], after[key]];
  return less === null || more === null ? null : (more - less) / (after.organizations - before.organizations);
}

function scaled(bytes: number | null): number | null {
  return bytes === null ? null : bytes / MEGABYTE;
}
