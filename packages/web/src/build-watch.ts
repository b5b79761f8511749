/** Notices that the server has another version of the page than the one that is open. */
import { signal } from "@preact/signals";

export const isOutdated = signal(false);

/** The document names its script, whose name follows from its content. */
async function readBuild(): Promise<void> {
  const script = document.querySelector<HTMLScriptElement>("script[type=module]");
  if (script === null) return;
  const response = await fetch("/", { cache: "no-cache" });
  if (response.ok) isOutdated.value = !(await response.text()).includes(new URL(script.src).pathname);
}

/** The server has been started again, perhaps as another version. */
export function checkBuild(): void {
  // The next start asks again.
  readBuild().catch(() => undefined);
}
