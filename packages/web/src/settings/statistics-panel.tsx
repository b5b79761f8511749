/** The organization's own figures, for its administrators (D259). */
import { useEffect, useState } from "preact/hooks";
import { client, explain } from "../api.ts";
import { chat } from "../store.ts";
import { Problem } from "../views/parts.tsx";

type Statistics = Awaited<ReturnType<typeof client.call<"GET /realm/statistics">>>;

const numbers = new Intl.NumberFormat();
const dayFormat = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });

const byteUnits = ["bytes", "KiB", "MiB", "GiB", "TiB"] as const;

function bytesOf(value: number): string {
  const power = Math.min(byteUnits.length - 1, Math.floor(Math.log2(Math.max(1, value)) / 10));
  return `${numbers.format(Number((value / 1024 ** power).toPrecision(3)))} ${byteUnits[power]}`;
}

function uploadsOf({ upload_bytes: used }: Statistics): string {
  const quota = chat.value?.realm_upload_quota_mib ?? null;
  return quota === null ? bytesOf(used) : `${bytesOf(used)} of ${bytesOf(quota * 1024 * 1024)}`;
}

type Figures = readonly (readonly [label: string, text: string])[];

function figuresOf(statistics: Statistics): Readonly<Record<string, Figures>> {
  const { people, active_people: active, channels, messages, waiting_deliveries: waiting } = statistics;
  const count = (label: string, value: number) => [label, numbers.format(value)] as const;
  return {
    Activity: [
      count("Active within a day", active.day),
      count("Active within 7 days", active.week),
      count("Active within 30 days", active.month),
      count("Messages ever sent", messages.total),
    ],
    People: [
      count("Owners", people.owners),
      count("Administrators", people.administrators),
      count("Moderators", people.moderators),
      count("Members", people.members),
      count("Guests", people.guests),
      count("Bots", people.bots),
      count("Deactivated accounts", people.deactivated),
    ],
    Space: [
      ["Uploaded files", uploadsOf(statistics)],
      count("Channels", channels.active),
      count("Archived channels", channels.archived),
    ],
    Deliveries: [
      count("Connected clients", statistics.connected_queues),
      count("Event queues of clients", statistics.event_queues),
      count("Emails that wait", waiting.emails),
      count("Webhooks that wait", waiting.webhooks),
      count("Deliveries that failed for good", statistics.dead_letters),
    ],
  };
}

const barHeight = 96;
const barWidth = 20;

/** A bar for each day, the highest at full height; the list of numbers is for those who do not see it. */
function Days({ days }: { readonly days: Statistics["messages"]["days"] }) {
  const most = Math.max(1, ...days.map(({ messages }) => messages));
  const label = (date: string) => dayFormat.format(new Date(date));
  const total = days.reduce((sum, { messages }) => sum + messages, 0);
  const [first, last] = [days[0]?.date, days.at(-1)?.date];
  return (
    <figure class="days">
      <svg
        class="bars"
        viewBox={`0 0 ${days.length * barWidth} ${barHeight}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${numbers.format(total)} messages in ${days.length} days, at most ${numbers.format(most)} a day`}
      >
        {days.map(({ date, messages }, index) => {
          const height = messages === 0 ? 1 : Math.max(2, (messages / most) * barHeight);
          return (
            <rect
              key={date}
              x={index * barWidth + 2}
              y={barHeight - height}
              width={barWidth - 4}
              height={height}
              rx="2"
            >
              <title>{`${label(date)}: ${numbers.format(messages)}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption class="quiet days-ends">
        <span>{first === undefined ? "" : label(first)}</span>
        <span>
          {numbers.format(total)} messages, at most {numbers.format(most)} a day
        </span>
        <span>{last === undefined ? "" : label(last)}</span>
      </figcaption>
    </figure>
  );
}

export function StatisticsPanel() {
  const [statistics, setStatistics] = useState<Statistics | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const load = () => {
    setProblem(null);
    client
      .call("GET /realm/statistics")
      .then(setStatistics, (error) => setProblem(`The statistics could not be read: ${explain(error)}`));
  };
  useEffect(load, []);
  return (
    <>
      <h2>Statistics</h2>
      <p class="quiet">
        Figures of this organization. Days are those of UTC; people who hide their presence do not count as active.
      </p>
      <Problem text={problem} />
      <p>
        <button type="button" onClick={load}>
          Refresh
        </button>
      </p>
      {statistics === null ? null : (
        <>
          <h3>Messages a day</h3>
          <Days days={statistics.messages.days} />
          <div class="figures">
            {Object.entries(figuresOf(statistics)).map(([title, figures]) => (
              <section key={title}>
                <h3>{title}</h3>
                <dl>
                  {figures.map(([label, text]) => (
                    <div key={label}>
                      <dt>{label}</dt>
                      <dd>{text}</dd>
                    </div>
                  ))}
                </dl>
              </section>
            ))}
          </div>
        </>
      )}
    </>
  );
}
