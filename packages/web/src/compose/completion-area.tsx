/** The text area, with the list of candidates for what is being typed. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { isForInputMethod } from "../input-methods.ts";
import { settings } from "../store.ts";
import { peekLater } from "../views/lazy-views.ts";
import { Avatar } from "../views/parts.tsx";
import { type Candidate, type Started, startedAt } from "./completion.ts";
import { composing, focusRequests, meetFocusRequest, setText } from "./compose-state.ts";
import { openFences } from "./fences.ts";
import { replaceRange } from "./insertion.ts";
import { takePaste } from "./paste.ts";
import { isTyping } from "./typing-notice.ts";

/** A keyboard on a screen has no other key for a new line. */
export const isSentByEnter = () => settings.value?.enter_sends === true && !matchMedia("(pointer:coarse)").matches;

interface Props {
  /** It keeps what Ctrl Z takes back. */
  readonly isHidden: boolean;
  readonly label: string;
  readonly onSend: () => void;
  readonly onClose: () => void;
}

const lineHeights = { least: 44, most: 360 } as const;

function grow(area: HTMLTextAreaElement | null): void {
  if (area === null) return;
  area.style.height = "auto";
  area.style.height = `${Math.min(lineHeights.most, innerHeight * 0.45, Math.max(lineHeights.least, area.scrollHeight))}px`;
}

/** Wraps the selection, such as with `**` for bold text. */
function wrapped(area: HTMLTextAreaElement, before: string, after = before): void {
  const { selectionStart: start, selectionEnd: end, value } = area;
  replaceRange(area, start, end, `${before}${value.slice(start, end)}${after}`);
  area.setSelectionRange(start + before.length, end + before.length);
}

/** There, Enter begins the next line, whatever it does elsewhere. */
function isInFence(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLTextAreaElement)) return false;
  return openFences(target.value.slice(0, target.selectionStart)).length > 0;
}

const formats: Readonly<Record<string, (area: HTMLTextAreaElement) => void>> = {
  b: (area) => wrapped(area, "**"),
  i: (area) => wrapped(area, "*"),
  l: (area) => wrapped(area, "[", "](url)"),
};

interface ListProps {
  readonly candidates: readonly Candidate[];
  readonly chosen: number;
  readonly onChoose: (candidate: Candidate) => void;
}

function CompletionList({ candidates, chosen, onChoose }: ListProps) {
  if (candidates.length === 0) return null;
  return (
    <div class="completion" id="completion" aria-label="Completions" role="listbox">
      {candidates.map((candidate, index) => (
        <div
          key={candidate.key}
          id={`completion-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === chosen}
          class={index === chosen ? "chosen" : ""}
          onPointerDown={(event) => {
            event.preventDefault();
            onChoose(candidate);
          }}
        >
          {candidate.userId === undefined ? (
            <span class="completion-sign">{candidate.sign}</span>
          ) : (
            <Avatar userId={candidate.userId} size="small" />
          )}
          <span>{candidate.label}</span>
          <span class="quiet">{candidate.note}</span>
        </div>
      ))}
    </div>
  );
}

export function CompletionArea({ isHidden, label, onSend, onClose }: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  const [started, setStarted] = useState<Started | null>(null);
  const [chosen, setChosen] = useState(0);
  const { text } = composing.value;
  // A text that was sent, or replaced by another one, has nothing started.
  const looked = useRef("");
  const candidates = started === null || looked.current !== text ? [] : (peekLater()?.candidatesFor(started) ?? []);
  const focus = focusRequests.value;
  useEffect(() => grow(area.current), [text, isHidden]);
  // At once: the next key belongs to the text.
  useLayoutEffect(() => {
    const where = area.current === null ? null : meetFocusRequest();
    if (area.current === null || where === null) return;
    area.current.focus();
    if (where === "end") area.current.setSelectionRange(area.current.value.length, area.current.value.length);
  }, [focus]);

  const look = () => {
    const { current } = area;
    const next = current === null ? null : startedAt(current.value, current.selectionStart);
    looked.current = current?.value ?? "";
    setStarted(next);
    if (next?.start !== started?.start || next?.query !== started?.query) setChosen(0);
  };
  const choose = (candidate: Candidate) => {
    const { current } = area;
    if (current === null || started === null) return;
    current.focus();
    replaceRange(current, started.start, started.end, candidate.text);
    // A channel is followed by its topics.
    look();
  };
  const pressInList = (event: KeyboardEvent): boolean => {
    if (candidates.length === 0) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setChosen((chosen + step + candidates.length) % candidates.length);
    else if ((event.key === "Enter" && !event.ctrlKey) || event.key === "Tab") {
      const candidate = candidates[chosen] ?? candidates[0];
      if (candidate !== undefined) choose(candidate);
    } else if (event.key === "Escape") setStarted(null);
    else return false;
    return true;
  };
  const press = (event: KeyboardEvent) => {
    if (isForInputMethod(event)) return;
    const { current } = area;
    const isCommand = event.ctrlKey || event.metaKey;
    const format = isCommand && !event.altKey ? formats[event.key.toLowerCase()] : undefined;
    const isSend =
      event.key === "Enter" &&
      (isCommand || (isSentByEnter() && !event.shiftKey && !event.altKey && !isInFence(event.currentTarget)));
    if (pressInList(event)) {
      // The list took it.
    } else if (isSend) onSend();
    else if (event.key === "Escape") onClose();
    else if (format !== undefined && current !== null) format(current);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="completion-box" hidden={isHidden}>
      <CompletionList candidates={candidates} chosen={chosen} onChoose={choose} />
      <textarea
        ref={area}
        id="compose-text"
        class="compose-text"
        dir="auto"
        aria-label={label}
        placeholder={label}
        rows={1}
        value={text}
        aria-controls={candidates.length === 0 ? undefined : "completion"}
        aria-activedescendant={candidates.length === 0 ? undefined : `completion-${chosen}`}
        onInput={(event) => {
          setText(event.currentTarget.value);
          isTyping(event.currentTarget.value === "" ? null : composing.peek().to);
          look();
        }}
        onKeyDown={press}
        onClick={look}
        onKeyUp={(event) => {
          if (event.key.startsWith("Arrow") && candidates.length === 0) look();
        }}
        onBlur={() => setStarted(null)}
        onPaste={takePaste}
      />
    </div>
  );
}
