/** The part that we use of a package without types. */
declare module "fs-native-extensions" {
  /**
   * Does not wait.
   * @returns false when somebody else holds a lock on these bytes
   * @throws Error when the system has no such locks
   */
  export function tryLock(file: number, offset: number, length: number): boolean;
}
