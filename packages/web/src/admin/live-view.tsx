/** The whole page: how the server is, its figures by section, the organizations, the dead letters. */
import { DeadLetters } from "./dead-letters.tsx";
import { age, shown } from "./format.ts";
import { hasSession, live, logOut, phase, poll, series, serverNow } from "./live.ts";
import { LogIn } from "./log-in.tsx";
import { Organizations } from "./organizations.tsx";
import { type Section, sections, sum, type Tile, worries } from "./sections.ts";
import { Sparkline } from "./sparkline.tsx";

function TileView({ tile }: { readonly tile: Tile }) {
  const { label, unit, isSum, isAlarming } = tile;
  const lines = Object.entries(tile.lines).map(([name, words]) => ({ label: words, values: series(name) }));
  const values = lines.map(({ values }) => (isSum === true ? sum(values) : (values.at(-1) ?? null)));
  const isBad = isAlarming !== undefined && values.some((value) => value !== null && isAlarming(value));
  return (
    <article class={`tile ${isBad ? "bad" : ""}`}>
      <h3>{label}</h3>
      <p class="tile-values">
        {lines.map(({ label: words }, index) => (
          <span key={words} class={`tile-value value-${index}`}>
            <strong>{shown(values[index], unit)}</strong>
            <small>{words}</small>
          </span>
        ))}
      </p>
      <Sparkline title={label} lines={lines} unit={unit} />
    </article>
  );
}

function SectionView({ section: { title, tiles, facts } }: { readonly section: Section }) {
  return (
    <section class="group" aria-label={title}>
      <h2>{title}</h2>
      <div class="tiles">
        {tiles.map((tile) => (
          <TileView key={tile.label} tile={tile} />
        ))}
      </div>
      {facts.length === 0 ? null : (
        <dl class="live-facts">
          {facts.map(({ label, text }) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{text()}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

function Status() {
  const answer = live.value;
  const found = answer === null ? [] : worries(answer.unready);
  const { kind } = phase.value;
  return (
    <>
      {phase.value.kind === "unreachable" ? (
        <div class="live-note" role="alert">
          <span>{phase.value.why} What you see is older. The page tries again every few seconds.</span>
          <button type="button" onClick={() => void poll()}>
            Try now
          </button>
        </div>
      ) : null}
      {kind === "hidden" ? <p class="live-note">Paused while this tab is hidden.</p> : null}
      {found.length === 0 ? null : (
        <ul class="live-note worries" aria-label="Needs attention">
          {found.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
    </>
  );
}

function Head() {
  const answer = live.value;
  const isGood = answer !== null && answer.unready === null && phase.value.kind !== "unreachable";
  return (
    <header class="live-head">
      <h1>Colloquy live</h1>
      <span class={`pill ${isGood ? "good" : "bad"}`}>
        {phase.value.kind === "unreachable" ? "No answer" : isGood ? "Ready" : "Not ready"}
      </span>
      {answer === null ? null : (
        <span class="quiet">
          {answer.version}, up {age(serverNow() - answer.started_at)}, Node {answer.node}, transport {answer.transport},
          process {answer.pid}
        </span>
      )}
      {hasSession() ? (
        <button type="button" onClick={() => void logOut()}>
          Log out
        </button>
      ) : null}
    </header>
  );
}

export function LiveView() {
  if (phase.value.kind === "locked") return <LogIn />;
  if (live.value === null) {
    return (
      <main class="live">
        <Status />
        {phase.value.kind === "loading" ? <p class="starting">Loading</p> : null}
      </main>
    );
  }
  return (
    <div class="live">
      <Head />
      <main class={phase.value.kind === "unreachable" ? "stale" : ""}>
        <Status />
        {sections.map((section) => (
          <SectionView key={section.title} section={section} />
        ))}
        <Organizations />
        <DeadLetters />
        <p class="quiet live-foot">
          Figures of this process, kept in its memory for an hour. Lines begin at zero; a gap was not measured.
        </p>
      </main>
    </div>
  );
}
