/** The organization's code playgrounds, oldest first: few, and asked for seldom, so they are read where they lie. */
import { limits } from "../../schemas/limits.ts";
import type { PlaygroundRecord } from "../../schemas/records.ts";
import type { View } from "./view.ts";

export function playgroundsOf(view: View): PlaygroundRecord[] {
  return view.rows("playgrounds", { limit: limits.playgrounds_per_realm_max }).map(({ row }) => row);
}
