/** Light, dark, or as the system: the person's setting, as an attribute that the styles read. */
import { effect } from "@preact/signals";
import { settings } from "./store.ts";

const names = { 1: "system", 2: "dark", 3: "light" } as const;

export function watchTheme(): void {
  effect(() => {
    const { documentElement: root } = document;
    root.dataset["theme"] = names[settings.value?.color_scheme ?? 1];
    const size = settings.value?.web_font_size_px;
    if (size !== undefined) root.style.setProperty("--text-size", `${Math.min(22, Math.max(12, size))}px`);
  });
}
