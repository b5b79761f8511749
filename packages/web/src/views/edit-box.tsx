/** Edits a message where it stands. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Message } from "../../../client/src/api/index.ts";
import { editing, readSource } from "../actions.ts";
import { client, explain } from "../api.ts";
import { chat } from "../store.ts";
import { Problem } from "./parts.tsx";

export function EditBox({ message }: { readonly message: Message }) {
  const [text, setText] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    readSource(message.id).then(setText, (error) => setProblem(explain(error)));
  }, [message.id]);
  useEffect(() => {
    area.current?.focus();
    area.current?.setSelectionRange(text?.length ?? 0, text?.length ?? 0);
  }, [text === null]);
  const close = () => {
    editing.value = null;
    document.querySelector<HTMLElement>(`[data-id="${message.id}"]`)?.focus();
  };
  const save = async (event?: Event) => {
    event?.preventDefault();
    if (text === null || isBusy) return;
    setBusy(true);
    setProblem(null);
    try {
      await client.call("PATCH /messages/{message_id}", { message_id: message.id, content: text });
      close();
    } catch (error) {
      setProblem(`Your change was not saved: ${explain(error)}`);
      setBusy(false);
    }
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save().catch(() => undefined);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <form class="edit-box" onSubmit={save}>
      {text === null && problem === null ? <p class="waiting">Loading the text</p> : null}
      {text === null ? null : (
        <textarea
          ref={area}
          aria-label="Text of the message"
          value={text}
          rows={Math.min(14, text.split("\n").length + 1)}
          maxLength={chat.value?.max_message_length ?? 10_000}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={press}
        />
      )}
      <Problem text={problem} />
      <div class="buttons">
        <button type="submit" class="primary" disabled={isBusy || text === null}>
          Save
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
        <span class="quiet">Ctrl Enter saves, Escape cancels</span>
      </div>
    </form>
  );
}
