export interface ChartLine {
  /** At the end of the line, instead of a legend. */
  readonly label: string;
  /** Name of a token: `c1`, `bad-mark`. */
  readonly color: string;
  readonly isDashed?: boolean;
  readonly isFilled?: boolean;
  readonly values: readonly (number | null)[];
}

export interface TimeChartProps {
  /** What is measured and its unit: `Calls /s`. */
  readonly title: string;
  /** Seconds since the epoch, ascending. */
  readonly times: readonly number[];
  readonly lines: readonly ChartLine[];
  readonly format: (value: number) => string;
  readonly isLogarithmic?: boolean;
  /** Charts of one page that share their crosshair. */
  readonly syncKey: string;
  readonly height?: number;
  /** Only the lowest chart of a column shows the times. */
  readonly hasTimes?: boolean;
  readonly onHover?: (index: number | null) => void;
}
