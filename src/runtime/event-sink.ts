/** How a turn's changes and events reach their readers. */
import type { Delta } from "../store/projections/projection.ts";
import type { StagedEvent } from "./effects-applier.ts";

/** Where events go: staged as each command is applied, published after the flush. */
export interface EventSink {
  /** A row was changed, and projections with it. */
  changed(delta: Delta): void;
  stage(event: StagedEvent): void;
  publish(): void;
}
