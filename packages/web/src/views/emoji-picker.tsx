/** Chooses an emoji, by name or by picture. */
import { useEffect, useState } from "preact/hooks";
import { explain } from "../api.ts";
import { best } from "../compose/completion.ts";
import { choiceOf, type Emoji, type EmojiPickerProps, emojiNames, emojiPictures, loadEmoji } from "../emoji.ts";
import { Dialog } from "./dialog.tsx";
import { Problem } from "./parts.tsx";

const shownMax = 320;

function matching(query: string): readonly Emoji[] {
  if (query === "") return emojiPictures.value.slice(0, shownMax);
  const seen = new Set<string>();
  return best(emojiNames.value, ({ name }) => name, query, shownMax).filter(({ code }) =>
    seen.has(code) ? false : seen.add(code),
  );
}

/** Moves by arrow keys, as many as a row has. */
function move(event: KeyboardEvent): void {
  const buttons = [...(event.currentTarget as HTMLElement).querySelectorAll("button")];
  const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
  const top = buttons[0]?.offsetTop;
  const perRow = Math.max(
    1,
    buttons.findIndex((one) => one.offsetTop !== top),
  );
  const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: perRow, ArrowUp: -perRow }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  buttons[Math.max(0, Math.min(buttons.length - 1, at + step))]?.focus();
}

export function EmojiPicker({ onPick, onClose }: EmojiPickerProps) {
  const [query, setQuery] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    loadEmoji().catch((error) => setProblem(`The emoji were not loaded: ${explain(error)}`));
  }, []);
  const found = matching(query.trim().toLowerCase().replaceAll(" ", "_"));
  const pick = (emoji: Emoji | undefined) => {
    if (emoji === undefined) return;
    onClose();
    onPick(choiceOf(emoji));
  };
  return (
    <Dialog title="Choose an emoji" onClose={onClose} class="emoji-dialog">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          pick(found[0]);
        }}
      >
        <input
          type="search"
          data-first
          aria-label="Name of an emoji"
          placeholder="Name, such as tada"
          value={query}
          onInput={(event) => setQuery(event.currentTarget.value)}
        />
      </form>
      <Problem text={problem} />
      {/* biome-ignore lint/a11y/noStaticElementInteractions: arrow keys move between the buttons inside */}
      <div class="emoji-grid" onKeyDown={move}>
        {found.map((emoji, index) => (
          <button
            type="button"
            key={`${emoji.type} ${emoji.code}`}
            tabIndex={index === 0 ? 0 : -1}
            aria-label={emoji.name.replaceAll("_", " ")}
            title={`:${emoji.name}:`}
            onClick={() => pick(emoji)}
          >
            {emoji.url === undefined ? emoji.character : <img class="emoji" src={emoji.url} alt="" />}
          </button>
        ))}
      </div>
      {found.length === 0 && problem === null && query !== "" ? <p class="quiet">No emoji has this name.</p> : null}
    </Dialog>
  );
}
