/** Chooses when a message is sent. */
import { useState } from "preact/hooks";
import { client, once } from "../api.ts";
import { go } from "../navigation.ts";
import { tell } from "../notices.ts";
import { serverNow } from "../server-clock.ts";
import { topicNamed } from "../store.ts";
import { onBothClocks } from "../time.ts";
import { Dialog } from "../views/dialog.tsx";
import { Problem, useAttempt } from "../views/parts.tsx";
import { clearCompose, composing } from "./compose-state.ts";
import { dropDraft, releaseDraft } from "./draft-saving.ts";

const weekdayAndTime = onBothClocks({
  weekday: "long",
  day: "numeric",
  month: "long",
  hour: "numeric",
  minute: "2-digit",
});

function at(days: number, hour: number): Date {
  const date = new Date(serverNow());
  date.setDate(date.getDate() + days);
  date.setHours(hour, 0, 0, 0);
  return date;
}

function choices(): readonly { readonly label: string; readonly date: Date }[] {
  const now = new Date(serverNow());
  const untilMonday = (8 - now.getDay()) % 7 || 7;
  return [
    { label: "In one hour", date: new Date(now.getTime() + 3_600_000) },
    ...(now.getHours() < 15 ? [{ label: "This afternoon", date: at(0, 16) }] : []),
    { label: "Tomorrow morning", date: at(1, 9) },
    { label: "Next Monday", date: at(untilMonday, 9) },
  ];
}

interface Props {
  readonly onClose: () => void;
}

export function ScheduleDialog({ onClose }: Props) {
  const { problem, isBusy, run } = useAttempt("The message was not scheduled");
  const [offered] = useState(choices);
  const [own, setOwn] = useState("");
  const schedule = async (date: Date) => {
    const { to, text } = composing.peek();
    if (to === null) return;
    const where =
      to.kind === "topic"
        ? ({ type: "channel", to: to.channelId, topic: topicNamed(to.topic) } as const)
        : ({ type: "direct", to: to.userIds } as const);
    const params = { ...where, content: text, scheduled_delivery_timestamp: Math.floor(date.getTime() / 1000) };
    const isDone = await run(() => once(params, (options) => client.call("POST /scheduled_messages", params, options)));
    if (!isDone) return;
    // What was written since then is another message.
    const isSame = composing.peek().text === text;
    const draft = isSame ? releaseDraft(composing.peek()) : Promise.resolve(null);
    if (isSame) clearCompose();
    onClose();
    tell(`It will be sent on ${weekdayAndTime(date)}.`, { label: "Show", run: () => go({ kind: "scheduled" }) });
    await dropDraft(await draft);
  };
  return (
    <Dialog title="Send later" onClose={onClose}>
      <div class="choices">
        {offered.map(({ label, date }) => (
          <button type="button" key={label} aria-disabled={isBusy} onClick={() => schedule(date)}>
            <span>{label}</span>
            <span class="quiet">{weekdayAndTime(date)}</span>
          </button>
        ))}
      </div>
      <form
        class="line-form"
        onSubmit={(event) => {
          event.preventDefault();
          schedule(new Date(own)).catch(() => undefined);
        }}
      >
        <label>
          Another time
          <input type="datetime-local" required value={own} onInput={(event) => setOwn(event.currentTarget.value)} />
        </label>
        <button type="submit" class="primary" aria-disabled={isBusy}>
          Schedule
        </button>
      </form>
      <Problem text={problem} />
    </Dialog>
  );
}
