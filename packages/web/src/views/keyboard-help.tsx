/** The list of keys. */

import { Dialog } from "./dialog.tsx";
import { isHelpOpen } from "./opened.ts";

type Group = "Places" | "Messages" | "Writing" | "Page";

const groups: readonly Group[] = ["Places", "Messages", "Writing", "Page"];
/** By the first key of each shortcut. */
const labels = {
  "/": ["Places", "Search"],
  I: ["Places", "Inbox"],
  t: ["Places", "Recent conversations"],
  a: ["Places", "Combined feed"],
  "*": ["Places", "Starred messages"],
  "@": ["Places", "Mentions"],
  P: ["Places", "Direct messages"],
  d: ["Places", "Drafts"],
  n: ["Places", "Next unread topic"],
  p: ["Places", "Next unread direct conversation"],
  s: ["Places", "Conversation of the message"],
  S: ["Places", "Channel of the message"],
  j: ["Messages", "Next message"],
  k: ["Messages", "Previous message"],
  J: ["Messages", "Scroll down"],
  K: ["Messages", "Scroll up"],
  Home: ["Messages", "First message that is loaded"],
  End: ["Messages", "Newest message"],
  r: ["Messages", "Reply"],
  ">": ["Messages", "Quote in reply"],
  R: ["Messages", "Write to the sender"],
  "+": ["Messages", "React with thumbs up"],
  ":": ["Messages", "React with an emoji"],
  "Ctrl+s": ["Messages", "Star"],
  e: ["Messages", "Edit"],
  m: ["Messages", "Move"],
  H: ["Messages", "Edit history"],
  V: ["Messages", "Read receipts"],
  U: ["Messages", "Mark as unread from here"],
  L: ["Messages", "Copy the link"],
  Delete: ["Messages", "Delete"],
  u: ["Messages", "Who the sender is"],
  M: ["Messages", "Mute or unmute the topic"],
  i: ["Messages", "Menu of the message"],
  c: ["Writing", "Write to a channel"],
  x: ["Writing", "Write a direct message"],
  w: ["Page", "Find people"],
  q: ["Page", "Find in the left side"],
  "?": ["Page", "These keys"],
  Escape: ["Page", "Close, then the inbox"],
} as const satisfies Readonly<Record<string, readonly [Group, string]>>;

export interface Shortcut {
  /** As `KeyboardEvent.key`; `Ctrl+` before it if it needs that key. The first one has a line of the help. */
  readonly keys: readonly [keyof typeof labels, ...string[]];
  /** @returns false if the key is not for the page now */
  run(): unknown;
}

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
                .filter(({ keys }) => labels[keys[0]][0] === group)
                .map(({ keys }) => (
                  <div key={keys[0]}>
                    <dt>
                      {keys.map((key) => (
                        <kbd key={key}>{names[key] ?? key}</kbd>
                      ))}
                    </dt>
                    <dd>{labels[keys[0]][1]}</dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
