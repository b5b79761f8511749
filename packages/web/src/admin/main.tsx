/** The operator's page: what the process does now and did in the last hour. Only the admin listener serves it. */
import { effect } from "@preact/signals";
import { render } from "preact";
import { live, phase, start } from "./live.ts";
import { LiveView } from "./live-view.tsx";
import { worries } from "./sections.ts";

document.documentElement.dataset["theme"] = "system";
effect(() => {
  const isHidden = phase.value.kind === "hidden";
  const isBad = phase.value.kind === "unreachable" || worries(live.value?.unready ?? null).length > 0;
  document.title = `${isHidden ? "Paused: " : isBad ? "(!) " : ""}Colloquy live`;
});
const root = document.getElementById("page");
if (root !== null) render(<LiveView />, root);
start();
