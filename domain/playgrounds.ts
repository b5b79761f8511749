/**
 * The organization's code playgrounds, oldest first. They are few and rarely read, so they are not cached. Clients open
 * their URLs, so one with another scheme than http and https is not shown (D277).
 */
import { limits } from "../schemas/limits.ts";
import type { PlaygroundRecord } from "../schemas/playgrounds.ts";
import { isWebTemplate } from "./markdown/uri-template.ts";
import type { View } from "./view.ts";

export function playgroundsOf(view: View): PlaygroundRecord[] {
  return view
    .rows("playgrounds", { limit: limits.playgrounds_per_realm_max })
    .map(({ row }) => row)
    .filter(({ urlTemplate }) => isWebTemplate(urlTemplate));
}
