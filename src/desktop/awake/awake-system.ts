/** What each system implements. */
export interface AwakeSystem {
  /** Rejects if this system cannot be kept awake. `onLost` is called if it stops by itself. */
  hold(onLost: (reason: string) => void): Promise<{ release(): void }>;
  /** null if unknown. */
  isOnBattery(): Promise<boolean | null>;
}
