/** The types of events, as the sources of what decides name them: a list that nobody has to keep. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { checkout } from "./process.ts";

/** Told to clients of older versions beside `user_settings`; their names are computed. */
export const olderTypes: readonly string[] = ["update_display_settings", "update_global_notifications"];

export interface EmittedTypes {
  readonly literal: readonly string[];
  /** Arguments that are no literals. */
  readonly computed: readonly string[];
}

/** The first argument of every `emit` and `signal` in what decides, a literal or not. */
export function emittedTypes(): EmittedTypes {
  const folder = join(checkout, "actors");
  const named = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => [
      ...readFileSync(join(folder, file), "utf8").matchAll(/effects\.(?:emit|signal)\(\s*([^,\s)]+)/g),
    ])
    .map((match) => match[1] ?? "");
  const [literal, computed] = [true, false].map((isLiteral) => [
    ...new Set(named.filter((name) => name.startsWith('"') === isLiteral)),
  ]) as [string[], string[]];
  return { literal: literal.map((name) => name.slice(1, -1)), computed };
}
