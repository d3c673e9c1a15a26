// Charts as SVG: lines, points and bars over one axis. A chart carries its figures as text for readers of screens.
"use strict";

const Chart = (() => {
  // A chart scales with the page: on a narrow screen it has fewer units, so that its text stays as large.
  const WIDTH = window.matchMedia("(max-width: 40rem)").matches ? 400 : 720;
  const HEIGHT = 340, LEFT = 70, RIGHT = 20, TOP = 30, BOTTOM = 52, LINE = 18;
  const BOTTOM_Y = HEIGHT - BOTTOM;
  // An estimate: the width of a letter depends on the font.
  const LETTER = 6.5;
  const NAMESPACE = "http://www.w3.org/2000/svg";
  // Lines that coincide stay apart by their dashes.
  const DASHES = ["none", "7 4", "2 3", "9 3 2 3"];

  function element(name, attributes, text) {
    const made = document.createElementNS(NAMESPACE, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  /** A text of several lines, which the character of a new line divides. */
  function lettering(attributes, text) {
    const [first, ...further] = text.split("\n");
    const made = element("text", attributes, first);
    for (const line of further) made.append(element("tspan", { x: attributes.x, dy: 15 }, line));
    return made;
  }

  /** Values of an axis: 1, 2, 2.5 or 5 times a power of ten apart; whole numbers for whole data. */
  function ticks(least, most, areWhole) {
    const span = most - least || Math.abs(most) || 1;
    const rough = span / 5;
    const power = 10 ** Math.floor(Math.log10(rough));
    const factors = areWhole ? [1, 2, 5, 10] : [1, 2, 2.5, 5, 10];
    const factor = factors.find((candidate) => candidate * power >= rough);
    const step = areWhole ? Math.max(1, Math.round(factor * power)) : factor * power;
    const values = [];
    for (let value = Math.ceil(least / step - 1e-9) * step; value <= most + step * 1e-9; value += step) values.push(value);
    return values;
  }

  const label = (value) => (Math.abs(value) < 1e-12 ? "0" : String(Number(value.toPrecision(6))));

  function bounds(values, includesZero) {
    let [least, most] = [Math.min(...values), Math.max(...values)];
    if (includesZero) [least, most] = [Math.min(0, least), Math.max(0, most)];
    if (least === most) [least, most] = [least - (Math.abs(least) || 1) * 0.05, most + (Math.abs(most) || 1) * 0.05];
    return [least, most];
  }

  function frame(title, xName, yName, xTicks, yTicks, toX, toY) {
    const chart = element("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", class: "chart" });
    chart.append(element("title", {}, title));
    for (const [value, text] of yTicks) {
      chart.append(element("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: toY(value), y2: toY(value) }));
      chart.append(element("text", { x: LEFT - 6, y: toY(value) + 4, "text-anchor": "end" }, text));
    }
    for (const [value, text] of xTicks) chart.append(lettering({ x: toX(value), y: BOTTOM_Y + 18, "text-anchor": "middle" }, text));
    chart.append(element("line", { class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: BOTTOM_Y, y2: BOTTOM_Y }));
    chart.append(element("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 8, "text-anchor": "middle" }, xName));
    chart.append(element("text", { x: 8, y: 18 }, yName));
    return chart;
  }

  /** The places of a legend's names, in lines above the axes, and the height of these lines. */
  function places(names) {
    let [x, lines] = [LEFT, 1];
    const found = names.map((name) => {
      const width = 36 + LETTER * name.length;
      if (x > LEFT && x + width > WIDTH) [x, lines] = [LEFT, lines + 1];
      x += width;
      return [x - width, TOP + LINE * lines - 8];
    });
    return names.length > 1 ? { found, height: LINE * lines } : { found: [], height: 0 };
  }

  /** A point: a disc or a diamond. */
  function point(shape, mark, x, y) {
    if (shape === "diamond") return element("path", { class: mark, d: `M${x} ${y - 7}l7 7l-7 7l-7-7z` });
    return element("circle", { class: mark, cx: x, cy: y, r: 4.5 });
  }

  /** The sample of a series in the legend. */
  function sample({ shape }, index, x, y) {
    const mark = `mark-${index % 4}`;
    if (shape === "bar") return element("rect", { class: mark, x, y: y - 10, width: 20, height: 10 });
    if (shape !== undefined) return point(shape, mark, x + 10, y - 4);
    return element("line", { class: `line ${mark}`, x1: x, x2: x + 20, y1: y - 4, y2: y - 4, "stroke-dasharray": DASHES[index % 4] });
  }

  function legend(chart, series, found) {
    found.forEach(([x, y], index) => {
      chart.append(sample(series[index], index, x, y));
      chart.append(element("text", { x: x + 26, y }, series[index].name));
    });
  }

  /** The points of a series, each with its label beside it. */
  function points(chart, { points: all, shape, labels = [] }, mark, toX, toY) {
    all.forEach(([x, y], index) => {
      chart.append(point(shape, mark, toX(x), toY(y)));
      if (labels[index] === undefined) return;
      // At the right edge a label stands before its point.
      const side = toX(x) > WIDTH - RIGHT - 20 - LETTER * labels[index].length ? -1 : 1;
      chart.append(element("text", { class: "label", x: toX(x) + 9 * side, y: toY(y) + 14, "text-anchor": side < 0 ? "end" : "start" }, labels[index]));
    });
  }

  /**
   * Lines and points: `series` is a list of `{name, points: [[x, y]], shape, labels}`. Points without a shape
   * (`disc`, `diamond`) make a line; `labels` are texts beside points.
   */
  function lines({ title, xName, yName, series }) {
    const all = series.flatMap((one) => one.points);
    const [left, right] = bounds(all.map(([x]) => x), false);
    const [low, high] = bounds(all.map(([, y]) => y), false);
    const { found, height } = places(series.map((one) => one.name));
    const toX = (x) => LEFT + ((x - left) / (right - left)) * (WIDTH - LEFT - RIGHT);
    const toY = (y) => BOTTOM_Y - ((y - low) / (high - low)) * (BOTTOM_Y - TOP - height);
    const areWhole = all.every(([x]) => Number.isInteger(x));
    const named = (values) => values.map((value) => [value, label(value)]);
    const chart = frame(title, xName, yName, named(ticks(left, right, areWhole)), named(ticks(low, high, false)), toX, toY);
    series.forEach((one, index) => {
      const mark = `mark-${index % 4}`;
      if (one.shape !== undefined) {
        points(chart, one, mark, toX, toY);
      } else {
        const path = one.points.map(([x, y]) => `${toX(x).toFixed(1)},${toY(y).toFixed(1)}`).join(" ");
        chart.append(element("polyline", { class: `line ${mark}`, points: path, "stroke-dasharray": DASHES[index % 4] }));
      }
    });
    legend(chart, series, found);
    return chart;
  }

  /**
   * Bars side by side: `bars` is a list of `{name, value, mark}`; `mark` is a level to compare with. `names` are
   * those of the bars and of the marks in the legend.
   */
  function bars({ title, xName, yName, bars: all, names = [] }) {
    const values = all.flatMap((bar) => [bar.value, bar.mark].filter((value) => value !== undefined));
    const [low, high] = bounds(values, true);
    const { found, height } = places(names);
    const width = (WIDTH - LEFT - RIGHT) / all.length;
    const toX = (index) => LEFT + (index + 0.5) * width;
    // The value of the highest bar stands above it.
    const toY = (y) => BOTTOM_Y - ((y - low) / (high - low)) * (BOTTOM_Y - TOP - height - LINE);
    const longest = Math.max(...all.flatMap(({ name }) => name.split("\n")).map((line) => line.length));
    const every = Math.max(1, Math.ceil((longest * LETTER + 6) / width), Math.ceil(all.length / 8));
    const xTicks = all.map((bar, index) => [index, index % every ? "" : bar.name]);
    const named = ticks(low, high, false).map((value) => [value, label(value)]);
    const chart = frame(title, xName, yName, xTicks, named, toX, toY);
    all.forEach((bar, index) => {
      const [top, bottom] = [Math.max(bar.value, 0), Math.min(bar.value, 0)];
      const rect = element("rect", { class: "mark-0", x: toX(index) - width * 0.35, width: width * 0.7, y: toY(top), height: Math.max(1, toY(bottom) - toY(top)) });
      rect.append(element("title", {}, `${bar.name}: ${label(bar.value)}`));
      chart.append(rect);
      if (bar.mark !== undefined) {
        const level = { x1: toX(index) - width * 0.45, x2: toX(index) + width * 0.45, y1: toY(bar.mark), y2: toY(bar.mark) };
        chart.append(element("line", { class: "under", ...level }), element("line", { class: "line mark-1", ...level, "stroke-dasharray": DASHES[1] }));
      }
      const text = label(Number(bar.value.toPrecision(4)));
      // A value stands above its bar where all bars are wide enough, and above a mark that is higher.
      if (width > 7 * LETTER) chart.append(element("text", { class: "label", x: toX(index), y: toY(Math.max(top, bar.mark ?? top)) - 6, "text-anchor": "middle" }, text));
    });
    legend(chart, names.map((name, index) => ({ name, shape: index ? undefined : "bar" })), found);
    return chart;
  }

  return { lines, bars };
})();
