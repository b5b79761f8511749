/** The list of keys. */
import { isHelpOpen } from "./opened.ts";
import { Dialog } from "./parts.tsx";

export interface Shortcut {
  /** As `KeyboardEvent.key`; `Ctrl+` before it if it needs that key. */
  readonly keys: readonly string[];
  readonly label: string;
  readonly group: "Places" | "Messages" | "Writing" | "Page";
  /** @returns false if the key is not for the page now */
  run(): unknown;
}

const groups: readonly Shortcut["group"][] = ["Places", "Messages", "Writing", "Page"];
const names: Readonly<Record<string, string>> = { " ": "Space", ArrowDown: "↓", ArrowUp: "↑" };

export function KeyboardHelp({ shortcuts }: { readonly shortcuts: readonly Shortcut[] }) {
  if (!isHelpOpen.value) return null;
  const close = () => {
    isHelpOpen.value = false;
  };
  return (
    <Dialog title="Keyboard shortcuts" onClose={close} class="wide">
      <div class="keys">
        {groups.map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {shortcuts
                .filter((one) => one.group === group)
                .map(({ keys, label }) => (
                  <div key={label}>
                    <dt>
                      {keys.map((key) => (
                        <kbd key={key}>{names[key] ?? key}</kbd>
                      ))}
                    </dt>
                    <dd>{label}</dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
