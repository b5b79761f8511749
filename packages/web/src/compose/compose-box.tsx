/** The box in which messages are written. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { postingObstacle } from "../permissions.ts";
import { narrowKey } from "../state/narrow.ts";
import { place } from "../store.ts";
import { Icon } from "../views/icon.tsx";
import { EmojiPicker, loadLater, Preview, ScheduleDialog } from "../views/lazy-views.ts";
import { IconButton, Problem } from "../views/parts.tsx";
import { CompletionArea, isSentByEnter } from "./completion-area.tsx";
import { closeCompose, labelOf, obstacle, placeOfDestination, sendNow } from "./compose-actions.ts";
import {
  composeProblem,
  composing,
  destinationOf,
  focusCompose,
  isComposeOpen,
  lengthOf,
  textLimit,
} from "./compose-state.ts";
import { DestinationFields } from "./destination-fields.tsx";
import { insertAtCaret } from "./insertion.ts";
import { addFiles, dropUpload, isDropping, retryUpload, uploads } from "./uploads.ts";

function Uploads() {
  // The button is gone afterwards.
  const pressed = (run: (id: number) => void, id: number) => () => {
    run(id);
    focusCompose("caret");
  };
  return (
    <ul class="uploads" aria-label="Uploads">
      {uploads.value.map(({ id, name, progress, problem }) => (
        <li key={id} class={problem === null ? "" : "failed"}>
          <span class="upload-name">{name}</span>
          {problem === null ? (
            <progress value={progress} aria-label={`Upload of ${name}`} />
          ) : (
            <Problem text={problem} />
          )}
          {problem === null || problem.startsWith("The file is") ? null : (
            <button type="button" onClick={pressed(retryUpload, id)}>
              Try again
            </button>
          )}
          <IconButton icon="close" label={`Remove ${name}`} onClick={pressed(dropUpload, id)} />
        </li>
      ))}
    </ul>
  );
}

function Tools(props: {
  readonly isPreview: boolean;
  readonly onPreview: () => void;
  readonly onSchedule: () => void;
}) {
  const [isPicking, setPicking] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const picked = useRef<string | null>(null);
  // After the dialog has given the focus back, and before the next key.
  useLayoutEffect(() => {
    if (isPicking || picked.current === null) return;
    insertAtCaret(picked.current);
    picked.current = null;
    focusCompose("caret");
  }, [isPicking]);
  const over = lengthOf(composing.value.text) - textLimit();
  return (
    <div class="compose-tools">
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label="Files to upload"
        onChange={(event) => {
          addFiles(event.currentTarget.files ?? []);
          event.currentTarget.value = "";
        }}
      />
      <IconButton icon="clip" label="Attach files" onClick={() => picker.current?.click()} />
      <IconButton icon="smile" label="Insert an emoji" onClick={() => setPicking(true)} />
      <IconButton icon="eye" label="Preview" isPressed={props.isPreview} onClick={props.onPreview} />
      <IconButton icon="clock" label="Send later" onClick={props.onSchedule} />
      <button type="button" class="compose-hint" onClick={async () => (await loadLater()).changeSendKey()}>
        {isSentByEnter() ? "" : "Ctrl "}Enter sends
      </button>
      {over > -500 ? <span class={over > 0 ? "problem" : "quiet"}>{-over} characters left</span> : null}
      <button type="button" class="primary send" aria-label="Send" onClick={sendNow}>
        <Icon name="send" size={16} />
        <span>Send</span>
      </button>
      {isPicking ? (
        <EmojiPicker
          onClose={() => setPicking(false)}
          onPick={(emoji) => {
            picked.current = `:${emoji.emoji_name}: `;
          }}
        />
      ) : null}
    </div>
  );
}

export function ComposeBox() {
  const [isPreview, setPreview] = useState(false);
  const [isScheduling, setScheduling] = useState(false);
  const { to, text } = composing.value;
  const now = place.value;
  const isHere =
    to !== null && now.kind === "narrow" && narrowKey(now.terms) === narrowKey(placeOfDestination(to).terms);
  const why = to?.kind === "topic" ? postingObstacle(to.channelId) : null;
  useEffect(() => {
    if (text === "") setPreview(false);
  }, [text === ""]);
  // One that is for another place has its fields, so that it can be sent elsewhere, or closed.
  const here = destinationOf(now);
  const isChannelHere = to?.kind === "topic" && here?.kind === "topic" && to.channelId === here.channelId;
  if (why !== null && text === "" && isChannelHere) return <p class="compose-closed">{why}</p>;
  return (
    <section class={`compose ${isDropping.value ? "dropping" : ""}`} aria-label="Write a message">
      {isHere && !isComposeOpen.value ? null : <DestinationFields isHere={isHere} />}
      {isPreview ? <Preview text={text} /> : null}
      <CompletionArea isHidden={isPreview} label={labelOf(to)} onSend={sendNow} onClose={closeCompose} />
      <Uploads />
      <Problem text={composeProblem.value} />
      <Tools
        isPreview={isPreview}
        onPreview={() => {
          setPreview(!isPreview && text !== "");
          if (isPreview) focusCompose();
        }}
        onSchedule={() => {
          const reason = obstacle();
          composeProblem.value = reason;
          if (reason === null) setScheduling(true);
        }}
      />
      {isScheduling ? <ScheduleDialog onClose={() => setScheduling(false)} /> : null}
    </section>
  );
}
