/** What a list of messages hears of the person and of the browser. */
import { useEffect, useRef } from "preact/hooks";
import type { Scroller } from "./scroller.ts";

/** Whether the person has used the pointer, the wheel or a key since the list was opened. */
export function useActivity(): { readonly current: boolean } {
  const isActive = useRef(false);
  useEffect(() => {
    const names = ["wheel", "touchmove", "pointerdown", "keydown"];
    const note = () => {
      isActive.current = true;
    };
    for (const name of names) document.addEventListener(name, note, { capture: true, passive: true });
    return () => {
      for (const name of names) document.removeEventListener(name, note, { capture: true });
    };
  }, []);
  return isActive;
}

/** Looks at the list when the window gets the focus, and holds its place when heights change. */
export function useScrolling(
  box: { readonly current: HTMLElement | null },
  content: { readonly current: HTMLElement | null },
  scroller: { readonly current: Scroller | null },
): void {
  useEffect(() => {
    const look = () => scroller.current?.note();
    addEventListener("focus", look);
    document.addEventListener("visibilitychange", look);
    const touch = ({ target }: Event) => scroller.current?.touch(target);
    content.current?.addEventListener("pointerdown", touch);
    content.current?.addEventListener("keydown", touch);
    const observer = new ResizeObserver((changes) => {
      if (changes.some(({ target }) => target === box.current)) scroller.current?.resized();
      else scroller.current?.restore();
      look();
    });
    for (const { current } of [box, content]) if (current !== null) observer.observe(current);
    return () => {
      removeEventListener("focus", look);
      document.removeEventListener("visibilitychange", look);
      observer.disconnect();
    };
  }, []);
}
