// What the page modules use of uPlot, which stands in the page as a script of its own.

interface UPlotOptions {
  width: number;
  height: number;
  padding?: number[];
  cursor?: { show: boolean };
  legend?: { show: boolean };
  scales?: Record<string, { time?: boolean; range?: (u: uPlot, least: number, most: number) => [number, number] }>;
  axes?: {
    show?: boolean;
    size?: number;
    gap?: number;
    space?: number;
    stroke?: string;
    font?: string;
    grid?: { show?: boolean; stroke?: string; width?: number };
    ticks?: { show?: boolean; stroke?: string; size?: number };
    incrs?: number[];
    splits?: () => number[];
    values?: (u: uPlot, splits: number[]) => (string | null)[];
  }[];
  series: {
    stroke?: string;
    width?: number;
    dash?: number[];
    fill?: string;
    spanGaps?: boolean;
    points?: { show: boolean; size?: number; fill?: string };
    paths?: () => null;
  }[];
  hooks?: { drawClear?: ((u: uPlot) => void)[] };
}

declare class uPlot {
  constructor(options: UPlotOptions, data: (number | null)[][], target: HTMLElement);
  readonly ctx: CanvasRenderingContext2D;
  readonly bbox: { left: number; top: number; width: number; height: number };
  destroy(): void;
}
