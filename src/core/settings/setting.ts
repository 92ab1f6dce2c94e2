/** Facts about the installation itself, for instance the check value of its encryption key. */
export interface SettingRows {
  get(key: string): Promise<string | null>;
  /** Sets it, whatever it was. */
  put(key: string, value: string): Promise<void>;
}
