// Charts as SVG: lines, points and bars over one axis. A chart carries its figures as text for readers of screens.
"use strict";

const Chart = (() => {
  const WIDTH = 720, HEIGHT = 340, LEFT = 70, RIGHT = 20, TOP = 30, BOTTOM = 48;
  const NAMESPACE = "http://www.w3.org/2000/svg";

  function element(name, attributes, text) {
    const made = document.createElementNS(NAMESPACE, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  /** Values of an axis: 1, 2 or 5 times a power of ten apart; whole numbers for whole data. */
  function ticks(least, most, areWhole) {
    const span = most - least || Math.abs(most) || 1;
    const rough = span / 5;
    const power = 10 ** Math.floor(Math.log10(rough));
    const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= rough);
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
    for (const [value, text] of xTicks) chart.append(element("text", { x: toX(value), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" }, text));
    chart.append(element("line", { class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM }));
    chart.append(element("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 8, "text-anchor": "middle" }, xName));
    chart.append(element("text", { x: 8, y: 18 }, yName));
    return chart;
  }

  function legend(chart, names) {
    names.forEach((name, index) => {
      const x = WIDTH - RIGHT - 160, y = TOP + 16 * index;
      chart.append(element("rect", { class: `mark-${index % 4}`, x, y: y - 9, width: 10, height: 10 }));
      chart.append(element("text", { x: x + 16, y }, name));
    });
  }

  /** Lines through points: `series` is a list of `{name, points: [[x, y]], isPoints}`. */
  function lines({ title, xName, yName, series }) {
    const all = series.flatMap((one) => one.points);
    const [left, right] = bounds(all.map(([x]) => x), false);
    const [low, high] = bounds(all.map(([, y]) => y), false);
    const toX = (x) => LEFT + ((x - left) / (right - left)) * (WIDTH - LEFT - RIGHT);
    const toY = (y) => HEIGHT - BOTTOM - ((y - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
    const areWhole = all.every(([x]) => Number.isInteger(x));
    const named = (values) => values.map((value) => [value, label(value)]);
    const chart = frame(title, xName, yName, named(ticks(left, right, areWhole)), named(ticks(low, high, false)), toX, toY);
    series.forEach((one, index) => {
      const marks = `mark-${index % 4}`;
      if (one.isPoints) {
        for (const [x, y] of one.points) chart.append(element("circle", { class: marks, cx: toX(x), cy: toY(y), r: 4 }));
      } else {
        const points = one.points.map(([x, y]) => `${toX(x).toFixed(1)},${toY(y).toFixed(1)}`).join(" ");
        // Lines that coincide stay apart by their dashes.
        const dashes = ["none", "7 4", "2 3", "9 3 2 3"][index % 4];
        chart.append(element("polyline", { class: `line ${marks}`, points, "stroke-dasharray": dashes }));
      }
    });
    if (series.length > 1) legend(chart, series.map((one) => one.name));
    return chart;
  }

  /** Bars side by side: `bars` is a list of `{name, value, mark}`; `mark` is a level to reach. */
  function bars({ title, xName, yName, bars: all }) {
    const values = all.flatMap((bar) => [bar.value, bar.mark].filter((value) => value !== undefined));
    const [low, high] = bounds(values, true);
    const width = (WIDTH - LEFT - RIGHT) / all.length;
    const toX = (index) => LEFT + (index + 0.5) * width;
    const toY = (y) => HEIGHT - BOTTOM - ((y - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
    const every = Math.ceil(all.length / 8);
    const names = all.map((bar, index) => [index, index % every ? "" : bar.name]);
    const named = ticks(low, high, false).map((value) => [value, label(value)]);
    const chart = frame(title, xName, yName, names, named, toX, toY);
    all.forEach((bar, index) => {
      const [top, bottom] = [Math.max(bar.value, 0), Math.min(bar.value, 0)];
      chart.append(element("rect", { class: "mark-0", x: toX(index) - width * 0.35, width: width * 0.7, y: toY(top), height: Math.max(1, toY(bottom) - toY(top)) }));
      if (bar.mark !== undefined) chart.append(element("line", { class: "line mark-1", x1: toX(index) - width * 0.45, x2: toX(index) + width * 0.45, y1: toY(bar.mark), y2: toY(bar.mark) }));
    });
    return chart;
  }

  return { lines, bars };
})();
