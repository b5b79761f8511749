/** Small parts that many views use: avatars, menus, buttons with icons, parts that load when needed. */
import { Component, type ComponentType, type VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { explain } from "../api.ts";
import { fragmentOf } from "../content.ts";
import { giveBackFocus } from "../focus.ts";
import { addLayer } from "../navigation.ts";
import { minute, myId, nameOf, type Person, people, presences, settings } from "../store.ts";
import { giveHeldKeys, waitForView } from "./held-keys.ts";
import { Icon, type IconName } from "./icon.tsx";

/** Renders again only if a property has changed. */
export function memo<P extends object>(render: (props: P) => VNode | null): ComponentType<P> {
  return class Memo extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>) {
      const before = this.props as Readonly<Record<string, unknown>>;
      return Object.entries(next).some(([name, value]) => before[name] !== value);
    }
    override render(props: P) {
      return render(props);
    }
  };
}

interface LazyOptions<P> {
  /** The view, if its code is there already. */
  readonly peek?: () => ComponentType<P> | null;
  /** It opens over the page, and the next keys are for it. */
  readonly takesKeys?: boolean;
}

function Broken({ onRetry }: { readonly onRetry: () => void }) {
  return (
    <div class="empty" role="alert">
      <p>This part could not be loaded. Check your network, then try again.</p>
      <button type="button" onClick={onRetry}>
        Try again
      </button>
    </div>
  );
}

/** A view whose code is loaded when it is first shown. */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  { peek = () => null, takesKeys = false }: LazyOptions<P> = {},
): ComponentType<P> {
  let loaded: ComponentType<P> | null = null;
  return function Lazy(props: P) {
    const [, show] = useState(0);
    const [isBroken, setBroken] = useState(false);
    loaded ??= peek();
    const isWaiting = loaded === null && !isBroken;
    useLayoutEffect(() => {
      if (!isWaiting) return;
      load().then(
        (view) => {
          loaded = view;
          show(1);
        },
        () => setBroken(true),
      );
      if (!takesKeys) return;
      waitForView();
      return giveHeldKeys;
    }, [isWaiting]);
    if (isBroken) return <Broken onRetry={() => setBroken(false)} />;
    const View = loaded;
    return View === null ? <p class="waiting">Loading</p> : <View {...props} />;
  };
}

interface HtmlProps {
  readonly html: string;
  readonly class?: string;
}

const FilledHtml = memo(({ html, class: className = "rendered", clock }: HtmlProps & { readonly clock: string }) => {
  const fill = (element: HTMLElement | null) => element?.replaceChildren(fragmentOf(html, myId.peek()));
  return <div class={className} key={`${clock}${html}`} ref={fill} />;
});

/** HTML of the server (content.ts); its times follow the person's clock. */
export const Html = (props: HtmlProps) => (
  <FilledHtml {...props} clock={settings.value?.twenty_four_hour_time === true ? "24" : "12"} />
);

const hues = 12;

function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/);
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => [...(word ?? "")][0] ?? "");
  return letters.join("").toUpperCase() || "?";
}

/** The uploaded picture of a person; initials on a color of their own otherwise. */
export function Avatar({
  userId,
  size = "medium",
}: {
  readonly userId: number;
  readonly size?: "small" | "medium" | "large";
}) {
  const person = people.value.get(userId);
  const url = person?.avatar_url;
  if (typeof url === "string" && url.startsWith("/") && !url.startsWith("//")) {
    return <img class={`avatar ${size}`} src={url} alt="" loading="lazy" />;
  }
  return (
    <span class={`avatar ${size} hue-${(userId * 5) % hues}`} aria-hidden="true">
      {initialsOf(person?.full_name ?? "?")}
    </span>
  );
}

const activeMs = 140_000;

export function presenceOf(userId: number): "active" | "idle" | "offline" {
  const presence = presences.value[String(userId)];
  if (presence === undefined || !("active_timestamp" in presence)) return "offline";
  const now = minute.value;
  if (now - presence.active_timestamp * 1000 < activeMs) return "active";
  return now - presence.idle_timestamp * 1000 < activeMs ? "idle" : "offline";
}

export function PresenceDot({ person }: { readonly person: Person }) {
  if (person.is_bot) return <span class="dot bot" title="Bot" />;
  const state = presenceOf(person.user_id);
  const label = { active: "Active", idle: "Idle", offline: "Offline" }[state];
  return <span class={`dot ${state}`} role="img" aria-label={label} title={label} />;
}

export function PersonName({ userId }: { readonly userId: number }) {
  return <span class="person-name">{nameOf(userId)}</span>;
}

interface IconButtonProps {
  readonly icon: IconName;
  readonly label: string;
  readonly onClick: (event: MouseEvent) => void;
  readonly class?: string;
  readonly isPressed?: boolean;
}

export function IconButton({ icon, label, onClick, class: className = "", isPressed }: IconButtonProps) {
  return (
    <button
      type="button"
      class={`icon-button ${className}`}
      aria-label={label}
      title={label}
      onClick={onClick}
      {...(isPressed === undefined ? {} : { "aria-pressed": isPressed })}
    >
      <Icon name={icon} />
    </button>
  );
}

export interface MenuItem {
  readonly label: string;
  readonly keys?: string;
  readonly isDangerous?: boolean;
  run(): void;
}

interface MenuProps {
  readonly label: string;
  readonly items: readonly (MenuItem | null)[];
  readonly onClose: () => void;
}

/**
 * A menu below the button that opened it; arrow keys move, Escape closes. It is in the browser's top layer, so that no
 * list or box that scrolls cuts it off.
 */
export function Menu({ label, items, onClose }: MenuProps) {
  const box = useRef<HTMLDivElement>(null);
  const opener = useRef<Element | null>(null);
  useLayoutEffect(() => {
    opener.current = document.activeElement;
    const { current } = box;
    current?.showPopover();
    const place = () => placeBeside(current, current?.parentElement ?? null);
    place();
    current?.querySelector("button")?.focus({ preventScroll: true });
    addEventListener("scroll", place, true);
    addEventListener("resize", place);
    const outside = (event: Event) => {
      if (event.target instanceof Node && box.current?.contains(event.target) === false) onClose();
    };
    document.addEventListener("pointerdown", outside, true);
    const forget = addLayer(onClose);
    return () => {
      document.removeEventListener("pointerdown", outside, true);
      removeEventListener("scroll", place, true);
      removeEventListener("resize", place);
      forget();
      const now = document.activeElement;
      if (now === document.body || current?.contains(now) === true) giveBackFocus(opener.current);
    };
  }, []);
  const move = (event: KeyboardEvent) => {
    const buttons = [...(box.current?.querySelectorAll("button") ?? [])];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" || event.key === "Tab") onClose();
    else if (step === undefined) return;
    else buttons[(at + step + buttons.length) % buttons.length]?.focus();
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="menu" popover="manual" role="menu" tabIndex={-1} aria-label={label} ref={box} onKeyDown={move}>
      {items.map((item) =>
        item === null ? null : (
          <button
            type="button"
            role="menuitem"
            key={item.label}
            class={item.isDangerous === true ? "danger" : ""}
            onClick={() => {
              // What the item opens gives the focus back to what it finds.
              giveBackFocus(opener.current);
              onClose();
              item.run();
            }}
          >
            <span>{item.label}</span>
            {item.keys === undefined ? null : <kbd>{item.keys}</kbd>}
          </button>
        ),
      )}
    </div>
  );
}

const menuMargin = 8;

/** Below its anchor, or above it if there is more room; always within the window. */
function placeBeside(menu: HTMLElement | null, anchor: HTMLElement | null): void {
  if (menu === null || anchor === null) return;
  const { top, bottom, right } = anchor.getBoundingClientRect();
  const isBelow = bottom + 4 + menu.offsetHeight <= innerHeight - menuMargin || innerHeight - bottom >= top;
  const wantedTop = isBelow ? bottom + 4 : top - 4 - menu.offsetHeight;
  const within = (wanted: number, size: number, room: number) =>
    Math.max(menuMargin, Math.min(wanted, room - menuMargin - size));
  menu.style.top = `${within(wantedTop, menu.offsetHeight, innerHeight)}px`;
  menu.style.left = `${within(right - menu.offsetWidth, menu.offsetWidth, innerWidth)}px`;
}

export interface Attempt {
  /** Why it failed, to be shown where it was started. */
  readonly problem: string | null;
  /** For `aria-disabled`: a button that is disabled would lose the focus. */
  readonly isBusy: boolean;
  /** @returns whether it was done; false while another action runs */
  run(action: () => Promise<unknown>): Promise<boolean>;
}

/** Ignores calls while one runs: a second click is for nothing new. */
export function useOneAtATime(): (action: () => Promise<unknown>) => Promise<unknown> {
  const isRunning = useRef(false);
  return async (action) => {
    if (isRunning.current) return;
    isRunning.current = true;
    try {
      await action();
    } finally {
      isRunning.current = false;
    }
  };
}

/** @param failure what did not happen, such as "The draft was not deleted" */
export function useAttempt(failure: string): Attempt {
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const isRunning = useRef(false);
  const run = async (action: () => Promise<unknown>) => {
    if (isRunning.current) return false;
    isRunning.current = true;
    setProblem(null);
    setBusy(true);
    try {
      await action();
      return true;
    } catch (error) {
      setProblem(`${failure}: ${explain(error)}`);
      return false;
    } finally {
      isRunning.current = false;
      setBusy(false);
    }
  };
  return { problem, isBusy, run };
}

export function Problem({ text }: { readonly text: string | null }) {
  return text === null ? null : (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}
