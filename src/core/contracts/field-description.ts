/** One of the values that a field or parameter accepts. */
export interface ChoiceDescription {
  readonly value: string | number;
  readonly display_name: string;
}

/** The metadata of one field (contract 19.1), in DRF's format. */
export interface FieldDescription {
  readonly type: string;
  readonly required: boolean;
  readonly read_only: boolean;
  readonly label: string;
  readonly max_length?: number;
  readonly min_length?: number;
  readonly min_value?: number;
  readonly max_value?: number;
  readonly choices?: readonly ChoiceDescription[];
  readonly children?: Readonly<Record<string, FieldDescription>>;
}
