/** For its test: the scripts in this folder are not type-checked. */
export class Failures {
  note(line: string): void;
  readonly lines: readonly string[];
}
