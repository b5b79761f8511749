/**
 * Edits a message where it stands. The box takes keys as soon as it is opened, before the text has come, and closes as
 * soon as the text is sent: what is typed next is not for it. A refused text is in the box again.
 */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Message } from "../../../client/src/api/index.ts";
import { readSource } from "../actions.ts";
import { explain } from "../api.ts";
import { cancelEdit, saveEdit, typedEdits } from "../edits.ts";
import { isForInputMethod, whenFinal } from "../input-methods.ts";
import { chat } from "../store.ts";
import { Problem } from "./parts.tsx";

const isTyping = () => document.activeElement?.matches("input, textarea, select") === true;

/** The text that was there, with what was typed before it came. */
function useSource(id: number) {
  const [kept] = useState(() => typedEdits.get(id));
  const [source, setSource] = useState<string | null>(kept?.source ?? null);
  const [reading] = useState(() => (source === null ? readSource(id) : Promise.resolve(source)));
  const [text, setText] = useState(kept?.text ?? "");
  const [problem, setProblem] = useState(kept?.problem ?? null);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (source !== null) return;
    let isShown = true;
    const put = (whole: string) => {
      const { current } = area;
      setSource(whole);
      if (current === null || !isShown) return;
      const { selectionStart: start, selectionEnd: end, value } = current;
      current.value = `${whole}${value}`;
      current.setSelectionRange(start + whole.length, end + whole.length);
      setText(current.value);
    };
    reading.then(
      (whole) => whenFinal(() => put(whole)),
      (error) => setProblem(explain(error)),
    );
    return () => {
      isShown = false;
    };
  }, [reading]);
  // It is there when the box is opened again.
  useEffect(() => {
    if (text === (source ?? "")) typedEdits.drop(id);
    else typedEdits.set(id, { text, source, problem });
  }, [text, source]);
  useLayoutEffect(() => {
    // One that comes back does not take the focus from what is being written now.
    if (kept !== undefined && isTyping()) return;
    area.current?.focus();
    area.current?.setSelectionRange(text.length, text.length);
  }, []);
  return { area, source, reading, text, setText, problem };
}

export function EditBox({ message }: { readonly message: Message }) {
  const { area, source, reading, text, setText, problem } = useSource(message.id);
  const close = () => {
    cancelEdit();
    document.querySelector<HTMLElement>(`[data-id="${message.id}"]`)?.focus();
  };
  const save = () => {
    close();
    saveEdit(message, reading, source === null ? null : text, text).catch(() => undefined);
  };
  const press = (event: KeyboardEvent) => {
    if (isForInputMethod(event)) return;
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <form
      class="edit-box"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <textarea
        ref={area}
        aria-label="Text of the message"
        dir="auto"
        value={text}
        placeholder={source === null && problem === null ? "Loading the text" : undefined}
        rows={Math.min(14, text.split("\n").length + 1)}
        maxLength={chat.value?.max_message_length ?? 10_000}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={press}
      />
      <Problem text={problem} />
      <div class="buttons">
        <button type="submit" class="primary">
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
