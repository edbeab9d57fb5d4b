/* Draws the requests of the page's data on the canvas.  All times are whole microseconds: `start` since the first
 * request's start, all others since their own request's start.  The tokens of a request are base64 of little-endian
 * 16-bit numbers; 65535 says that the next two are the low and high half of one number.  A number is the time since the
 * token before; where `group` is above 1 they are pairs: the time of `group` tokens, and the longest among them. */
'use strict';
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId('data').textContent);
  const count = data.start.length;
  const canvas = byId('canvas'), stage = byId('stage'), tip = byId('tip');
  const paint = canvas.getContext('2d');
  const OK = 0, FAILED = 1;
  const TYPES = ['TTFT', ...data.types];
  const AXIS = 30, BAR = 22, SCROLL = 8;
  let colours = {}, order = [], place = [];
  let width = 0, height = 0, gutter = 80;
  const whole = Math.max(1, data.span);
  const view = { from: 0, to: whole, top: 0, row: BAR };
  let chosen = null, queued = false;

  /* ---- tokens ---- */

  const cache = new Map();
  let cached = 0;

  function unpack(text) {
    const bytes = atob(text), found = new Uint32Array(bytes.length >> 1);
    let n = 0;
    const word = (i) => bytes.charCodeAt(i) | bytes.charCodeAt(i + 1) << 8;
    for (let i = 0; i + 1 < bytes.length; i += 2) {
      let value = word(i);
      if (value === 65535) {
        value = word(i + 2) + word(i + 4) * 65536;
        i += 4;
      }
      found[n++] = value;
    }
    return found.subarray(0, n);
  }

  function tokensOf(r) {
    let found = cache.get(r);
    if (found) return found;
    if (cached > 6e6) {
      cache.clear();
      cached = 0;
    }
    found = unpack(data.tokens[r] || '');
    cached += found.length;
    cache.set(r, found);
    return found;
  }

  const step = data.group > 1 ? 2 : 1;
  const level = (us) => us < data.limits[0] ? 1 : us < data.limits[1] ? 2 : 3;

  /* The bars of a request, one after the other: visit(type, from, to, number, longest); true stops. */
  function eachBar(r, visit) {
    const start = data.start[r], first = data.first[r];
    if (first < 0) {
      visit(data.pooling && data.state[r] === OK ? 0 : 4, start, start + data.end[r], 0, 0);
      return;
    }
    if (visit(0, start, start + first, 0, 0)) return;
    const tokens = tokensOf(r);
    let at = start + first;
    for (let i = 0; i < tokens.length; i += step) {
      const longest = tokens[i + step - 1];
      if (visit(level(longest), at, at + tokens[i], i / step + 1, longest)) return;
      at += tokens[i];
    }
    if (start + data.end[r] > at) visit(5, at, start + data.end[r], 0, 0);
  }

  function barAt(r, time) {
    let found = null;
    eachBar(r, (type, from, to, number, longest) => {
      if (time < from && found) return true;
      found = { r, type, from, to, number, longest };
      return time < to;
    });
    return found;
  }

  /* ---- order of rows ---- */

  function sortRows(how) {
    const keys = {
      number: (r) => r,
      start: (r) => data.start[r],
      length: (r) => -data.end[r],
      first: (r) => -(data.first[r] < 0 ? data.end[r] : data.first[r]),
    };
    const key = keys[how];
    order = Int32Array.from({ length: count }, (_, r) => r).sort((a, b) => key(a) - key(b) || a - b);
    place = new Int32Array(count);
    order.forEach((r, i) => { place[r] = i; });
  }

  /* ---- drawing ---- */

  const areaWidth = () => width - gutter - SCROLL;
  const areaHeight = () => height - AXIS;
  const xOf = (time) => gutter + (time - view.from) / (view.to - view.from) * areaWidth();
  const timeOf = (x) => view.from + (x - gutter) / areaWidth() * (view.to - view.from);
  const smallest = () => Math.min(BAR, areaHeight() / count);

  function readColours() {
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue('--' + name).trim();
    colours = { page: get('page'), ink: get('ink'), soft: get('soft'), line: get('line'), grid: get('grid'), fail: get('fail'),
      tail: get('tail') };
    colours.bars = [get('first'), get('below'), get('between'), get('above'), get('fail'), get('tail')];
  }

  const STEPS = [1e6, 2e6, 5e6, 1e7, 1.5e7, 3e7, 6e7, 1.2e8, 3e8, 6e8, 1.2e9, 1.8e9, 3.6e9, 7.2e9, 1.44e10, 4.32e10, 8.64e10];

  function tickStep(length, most) {
    for (let power = 1; power < 1e6; power *= 10)
      for (const n of [1, 2, 5]) if (length / (n * power) <= most) return n * power;
    return STEPS.find((s) => length / s <= most) || Math.ceil(length / most / 8.64e10) * 8.64e10;
  }

  const two = (n) => String(n).padStart(2, '0');

  function tickText(time, by) {
    const decimals = by >= 1e6 ? 0 : by >= 1e5 ? 1 : by >= 1e4 ? 2 : by >= 1e3 ? 3 : by >= 100 ? 4 : by >= 10 ? 5 : 6;
    const seconds = time / 1e6;
    if (data.span < 12e7) return seconds.toFixed(decimals) + ' s';
    const h = Math.floor(seconds / 3600), m = Math.floor(seconds / 60) % 60;
    const s = (seconds - h * 3600 - m * 60).toFixed(decimals).padStart(decimals > 0 ? decimals + 3 : 2, '0');
    return (h > 0 ? h + ':' + two(m) : m) + ':' + s;
  }

  function drawAxis() {
    const length = view.to - view.from, by = tickStep(length, Math.max(2, areaWidth() / 95));
    paint.font = '12px system-ui, sans-serif';
    paint.textAlign = 'center';
    paint.textBaseline = 'middle';
    for (let t = Math.ceil(view.from / by) * by; t <= view.to; t += by) {
      const x = Math.round(xOf(t)) + 0.5, text = tickText(t, by), half = paint.measureText(text).width / 2;
      paint.fillStyle = colours.grid;
      paint.fillRect(x - 0.5, 0, 1, areaHeight());
      paint.fillStyle = colours.soft;
      paint.fillRect(x - 0.5, areaHeight(), 1, 5);
      paint.fillText(text, Math.min(Math.max(x, gutter + half), width - half - 2), areaHeight() + 17);
    }
    paint.fillStyle = colours.line;
    paint.fillRect(gutter, areaHeight(), width - gutter, 1);
    paint.fillRect(gutter - 1, 0, 1, areaHeight());
  }

  function rowName(r) {
    if (data.turn) return 'Conv ' + data.owner[r] + ', turn ' + data.turn[r];
    return 'Req ' + (data.number ? data.number[r] : r);
  }

  function drawNames() {
    const every = tickStep(13 / view.row, 1);
    const last = Math.min(count, Math.ceil(view.top + areaHeight() / view.row));
    paint.font = (view.row > 12 || every > 1 ? 12 : 11) + 'px system-ui, sans-serif';
    paint.textAlign = 'right';
    paint.textBaseline = 'middle';
    for (let i = Math.ceil(Math.max(0, view.top) / every) * every; i < last; i += every) {
      const middle = (i - view.top + 0.5) * view.row, r = order[i];
      /* The first name moves down by as much as the second lets it, so that the edge does not cut it. */
      const y = Math.max(middle, Math.min(7, middle + every * view.row - 11));
      if (y < 5 || y > areaHeight() - 5) continue;
      paint.fillStyle = data.state[r] === FAILED ? colours.fail : colours.soft;
      paint.fillText(rowName(r), gutter - 8, y, gutter - 10);
    }
  }

  /* Bars below a pixel share it: it takes the colour of the type that fills most of it. */
  function drawRow(r, y, h) {
    const scale = areaWidth() / (view.to - view.from), left = gutter, right = width - SCROLL;
    const begin = xOf(data.start[r]), end = xOf(data.start[r] + data.end[r]);
    if (end < left - 6 || begin > right) return;
    const share = [0, 0, 0, 0, 0, 0];
    let pixel = -1, runType = -1, runFrom = 0, runTo = 0;
    const put = (type, from, to) => {
      const a = Math.max(left, from), b = Math.min(right, to);
      if (b <= a) return;
      paint.fillStyle = colours.bars[type];
      if (type === 5) paint.fillRect(a, y + h / 2 - Math.min(1, h / 2), b - a, Math.min(2, h));
      else paint.fillRect(a, y, b - a, h);
    };
    const endRun = () => {
      if (runType >= 0) put(runType, runFrom, runTo);
      runType = -1;
    };
    const endPixel = () => {
      if (pixel < 0) return;
      let best = 0;
      for (let i = 1; i < 6; i++) if (share[i] > 0 && share[i] >= share[best]) best = i;
      share.fill(0);
      if (runType !== best || runTo !== pixel) {
        endRun();
        runType = best;
        runFrom = pixel;
      }
      runTo = pixel + 1;
      pixel = -1;
    };
    eachBar(r, (type, from, to) => {
      const a = gutter + (from - view.from) * scale, b = gutter + (to - view.from) * scale;
      if (a > right) return true;
      if (b < left) return false;
      if (b - a >= 1.5) {
        endPixel();
        endRun();
        put(type, a, b - a > 4 ? b - 1 : b);
      } else {
        const at = Math.floor(a);
        if (at !== pixel) endPixel();
        pixel = at;
        share[type] += b - a;
      }
      return false;
    });
    endPixel();
    endRun();
    if (data.state[r] !== OK) drawEnd(r, y, h, Math.max(begin, left), Math.min(end, right), end);
  }

  /* Failed: hatched over all of its time, a cross at the end; cut off by the end of the run: an open end. */
  function drawEnd(r, y, h, from, to, end) {
    const failed = data.state[r] === FAILED, colour = failed ? colours.fail : colours.tail;
    if (h < 5) {
      paint.fillStyle = colour;
      paint.fillRect(failed ? from : to - 3, y, Math.max(3, failed ? to - from : 3), h);
      return;
    }
    paint.save();
    paint.beginPath();
    paint.rect(from, y, Math.max(3, to - from), h);
    paint.clip();
    paint.strokeStyle = colour;
    paint.lineWidth = 1.5;
    paint.beginPath();
    for (let x = from - h; failed && x < to + h && to - from < 20000; x += 7) {
      paint.moveTo(x, y + h);
      paint.lineTo(x + h, y);
    }
    paint.stroke();
    paint.restore();
    if (end < gutter || end > width - SCROLL) return;
    const mid = y + h / 2, size = Math.min(5, h / 2);
    paint.strokeStyle = colour;
    paint.lineWidth = 2;
    paint.beginPath();
    if (failed) {
      paint.moveTo(to - size, mid - size);
      paint.lineTo(to + size, mid + size);
      paint.moveTo(to - size, mid + size);
      paint.lineTo(to + size, mid - size);
    } else {
      paint.moveTo(to + 2, mid - size);
      paint.lineTo(to + 2 + size, mid);
      paint.lineTo(to + 2, mid + size);
    }
    paint.stroke();
  }

  /* Rows below a pixel: a failed one, else the longest of those that share it. */
  function drawDense() {
    for (let y = 0; y < areaHeight(); y++) {
      const from = Math.max(0, Math.floor(view.top + y / view.row));
      const to = Math.min(count, Math.floor(view.top + (y + 1) / view.row));
      let best = -1, most = -1;
      for (let i = from; i < Math.max(to, from + 1) && i < count; i++) {
        const weight = data.state[order[i]] === FAILED ? Infinity : data.end[order[i]];
        if (weight > most) {
          most = weight;
          best = order[i];
        }
      }
      if (best >= 0) drawRow(best, y, 1);
    }
  }

  function drawRows() {
    if (view.row < 1) {
      drawDense();
      return;
    }
    const pad = view.row > 6 ? Math.min(3, view.row * 0.12) : view.row > 2.5 ? 0.5 : 0;
    const last = Math.min(count, Math.ceil(view.top + areaHeight() / view.row));
    for (let i = Math.max(0, Math.floor(view.top)); i < last; i++)
      drawRow(order[i], (i - view.top) * view.row + pad, view.row - 2 * pad);
  }

  function drawChosen() {
    if (!chosen) return;
    const y = (place[chosen.r] - view.top) * view.row, x = xOf(chosen.from);
    paint.strokeStyle = colours.ink;
    paint.lineWidth = 2;
    paint.strokeRect(Math.max(x, gutter - 4) - 1, y, Math.max(4, Math.min(xOf(chosen.to), width + 4) - Math.max(x, gutter - 4)) + 1,
      Math.max(4, view.row));
  }

  function drawScroll() {
    const shown = areaHeight() / view.row;
    if (shown >= count) return;
    const size = Math.max(24, areaHeight() * shown / count);
    paint.fillStyle = colours.grid;
    paint.fillRect(width - SCROLL, 0, SCROLL, areaHeight());
    paint.fillStyle = colours.tail;
    paint.fillRect(width - SCROLL + 1, (areaHeight() - size) * view.top / (count - shown), SCROLL - 2, size);
  }

  function tellView() {
    const dense = view.row < 1;
    byId('view').hidden = !dense;
    if (dense)
      byId('view').textContent = 'About ' + Math.ceil(1 / view.row) + ' requests share a line: a failed one is drawn, else the longest. ' +
        'Taller rows show each.';
  }

  function draw() {
    queued = false;
    const ratio = window.devicePixelRatio || 1;
    paint.setTransform(ratio, 0, 0, ratio, 0, 0);
    paint.fillStyle = colours.page;
    paint.fillRect(0, 0, width, height);
    drawAxis();
    paint.save();
    paint.beginPath();
    paint.rect(0, 0, width, areaHeight());
    paint.clip();
    drawRows();
    drawChosen();
    paint.restore();
    drawNames();
    drawScroll();
    tellView();
  }

  function redraw() {
    if (!queued) requestAnimationFrame(draw);
    queued = true;
  }

  /* ---- the view ---- */

  function settle() {
    const length = Math.min(Math.max(view.to - view.from, 20), whole * 1.04);
    let from = Math.min(Math.max(view.from, -whole * 0.02), whole * 1.02 - length);
    view.from = from;
    view.to = from + length;
    view.row = Math.min(Math.max(view.row, smallest()), 48);
    view.top = Math.min(Math.max(view.top, 0), Math.max(0, count - areaHeight() / view.row));
    redraw();
  }

  function zoom(factor, x) {
    const time = timeOf(x), length = (view.to - view.from) / factor;
    const bounded = Math.min(Math.max(length, 20), whole * 1.04);
    view.from = time - (x - gutter) / areaWidth() * bounded;
    view.to = view.from + bounded;
    settle();
  }

  function sizeRows(factor, y) {
    const at = view.top + y / view.row;
    view.row = Math.min(Math.max(view.row * factor, smallest()), 48);
    view.top = at - y / view.row;
    settle();
  }

  function move(dx, dy) {
    const time = dx / areaWidth() * (view.to - view.from);
    view.from -= time;
    view.to -= time;
    view.top -= dy / view.row;
    settle();
  }

  function showAll() {
    view.from = -whole * 0.01;
    view.to = whole * 1.02;
    view.row = smallest();
    view.top = 0;
    settle();
  }

  function resize() {
    const ratio = window.devicePixelRatio || 1;
    const room = Math.max(260, Math.round(window.innerHeight * 0.68));
    const fits = width > 0 && view.row <= smallest() * 1.001;
    width = stage.clientWidth;
    gutter = Math.round((data.turn ? 116 : 76) * (width < 500 ? 0.8 : 1));
    height = Math.max(130, Math.min(room, count * BAR + AXIS + 6));
    canvas.style.height = height + 'px';
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    if (fits) view.row = smallest();
    settle();
  }

  /* ---- words about a bar ---- */

  function clock(us) {
    const ms = Math.round(us / 1000), s = Math.floor(ms / 1000);
    return two(Math.floor(s / 3600)) + ':' + two(Math.floor(s / 60) % 60) + ':' + two(s % 60) + '.' + String(ms % 1000).padStart(3, '0');
  }

  const spell = (us) => us < 1e6 ? (us / 1000).toFixed(3) + ' ms' : (us / 1e6).toFixed(6) + ' s';

  function typeText(bar) {
    if (bar.type === 4) return data.state[bar.r] === FAILED ? 'failed without a token' : 'no token came';
    if (bar.type === 5) return 'from the last token to the end';
    if (bar.type === 0) return data.pooling ? 'whole request' : TYPES[0];
    return TYPES[bar.type] + (data.group > 1 ? ' (up to ' + data.group + ' tokens in a bar, longest ' + spell(bar.longest) + ')' : '');
  }

  function describe(bar, into) {
    const r = bar.r, lines = [['Type', typeText(bar)], ['Start', clock(bar.from)], ['End', clock(bar.to)], ['Duration', spell(bar.to - bar.from)],
      ['Prompt tokens', data.prompt[r]]];
    if (bar.number > 0) lines.splice(1, 0, [data.group > 1 ? 'Group of tokens' : 'Inter-token time', bar.number + ' of ' + tokensOf(r).length / step]);
    if (!data.pooling) lines.push(['Output tokens', data.output[r]]);
    lines.push(['Request start', clock(data.start[r])], ['Request end', clock(data.start[r] + data.end[r])]);
    if (data.state[r] !== OK) lines.push(['Outcome', data.errors[data.error[r]] || '']);
    const table = document.createElement('table'), head = document.createElement('b');
    head.textContent = rowName(r);
    for (const [name, value] of lines) {
      const row = table.insertRow();
      row.insertCell().textContent = name;
      row.insertCell().textContent = value;
    }
    into.replaceChildren(head, table);
    into.hidden = false;
  }

  function hit(event) {
    const x = event.offsetX, y = event.offsetY;
    if (x < gutter || y > areaHeight()) return null;
    const i = Math.floor(view.top + y / view.row);
    if (i < 0 || i >= count) return null;
    const r = order[i], time = timeOf(x), near = (view.to - view.from) / areaWidth() * 4;
    if (time < data.start[r] - near || time > data.start[r] + data.end[r] + near) return null;
    return barAt(r, Math.min(Math.max(time, data.start[r]), data.start[r] + data.end[r]));
  }

  function hover(event) {
    const bar = view.row >= 1 ? hit(event) : null;
    tip.hidden = !bar;
    if (!bar) return;
    describe(bar, tip);
    const right = event.offsetX + 16 + tip.offsetWidth < width;
    tip.style.left = (right ? event.offsetX + 16 : Math.max(2, event.offsetX - tip.offsetWidth - 12)) + 'px';
    tip.style.top = Math.max(2, Math.min(event.offsetY + 14, height - tip.offsetHeight - 4)) + 'px';
  }

  function choose(bar) {
    chosen = bar;
    if (bar) describe(bar, byId('chosen'));
    else byId('chosen').hidden = true;
    redraw();
  }

  function intoView(bar) {
    const i = place[bar.r], shown = areaHeight() / view.row, length = view.to - view.from;
    if (view.row < 6) {
      view.row = 12;
      view.top = i - areaHeight() / view.row / 2;
    }
    if (i < view.top + 1) view.top = i - 1;
    if (i > view.top + shown - 2) view.top = i - shown + 2;
    if (bar.to < view.from || bar.from > view.to || (bar.from < view.from && bar.to - bar.from < length)) {
      view.from = bar.from - length / 4;
      view.to = view.from + length;
    }
    settle();
  }

  /* ---- input ---- */

  const fingers = new Map();
  let moved = false, spread = 0, scrolling = false;

  canvas.addEventListener('pointerdown', (e) => {
    canvas.setPointerCapture(e.pointerId);
    fingers.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
    moved = false;
    spread = 0;
    scrolling = e.offsetX > width - SCROLL - 4 && areaHeight() / view.row < count;
  });

  canvas.addEventListener('pointermove', (e) => {
    const before = fingers.get(e.pointerId);
    if (!before) {
      hover(e);
      return;
    }
    const dx = e.offsetX - before.x, dy = e.offsetY - before.y;
    if (!moved && Math.hypot(dx, dy) < 4) return;
    moved = true;
    tip.hidden = true;
    canvas.classList.add('moving');
    fingers.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
    if (scrolling) {
      move(0, -dy * count / areaHeight() * view.row);
    } else if (fingers.size === 2) {
      const [a, b] = [...fingers.values()], now = Math.hypot(a.x - b.x, a.y - b.y);
      if (spread > 0) zoom(now / spread, (a.x + b.x) / 2);
      spread = now;
    } else {
      move(dx, dy);
    }
  });

  function release(e) {
    const down = fingers.delete(e.pointerId);
    canvas.classList.remove('moving');
    if (down && !moved && e.type === 'pointerup') choose(hit(e));
  }
  canvas.addEventListener('pointerup', release);
  canvas.addEventListener('pointercancel', release);
  canvas.addEventListener('pointerleave', () => { tip.hidden = true; });

  canvas.addEventListener('wheel', (e) => {
    e.preventDefault();
    tip.hidden = true;
    const unit = e.deltaMode === 1 ? 18 : e.deltaMode === 2 ? areaHeight() : 1;
    const dx = e.deltaX * unit, dy = e.deltaY * unit;
    if (e.shiftKey) move(0, -(dx || dy));
    else if (e.altKey) sizeRows(Math.exp(-dy / 300), e.offsetY);
    else if (Math.abs(dx) > Math.abs(dy)) move(-dx, 0);
    else zoom(Math.exp(-dy / 400), e.offsetX);
  }, { passive: false });

  function stepBar(by) {
    if (!chosen) return stepRow(0);
    const bars = [];
    eachBar(chosen.r, (type, from, to, number, longest) => { bars.push({ r: chosen.r, type, from, to, number, longest }); });
    const at = bars.findIndex((b) => b.from >= chosen.from && b.to >= chosen.to);
    return bars[Math.min(Math.max(at + by, 0), bars.length - 1)];
  }

  function stepRow(by) {
    const i = chosen ? place[chosen.r] + by : Math.ceil(view.top);
    const r = order[Math.min(Math.max(i, 0), count - 1)];
    return barAt(r, chosen ? Math.max(chosen.from, data.start[r]) : data.start[r]);
  }

  function pick(bar) {
    if (!bar) return;
    choose(bar);
    intoView(bar);
  }

  /* Buttons and keys zoom around the chosen bar, when it is in view. */
  function middle() {
    const x = chosen ? xOf((chosen.from + chosen.to) / 2) : -1;
    return x >= gutter && x <= width ? x : gutter + areaWidth() / 2;
  }

  const keys = {
    ArrowLeft: () => pick(stepBar(-1)),
    ArrowRight: () => pick(stepBar(1)),
    ArrowUp: () => pick(stepRow(-1)),
    ArrowDown: () => pick(stepRow(1)),
    'Shift ArrowLeft': () => move(areaWidth() / 5, 0),
    'Shift ArrowRight': () => move(-areaWidth() / 5, 0),
    'Shift ArrowUp': () => move(0, areaHeight() / 5),
    'Shift ArrowDown': () => move(0, -areaHeight() / 5),
    PageUp: () => move(0, areaHeight() * 0.9),
    PageDown: () => move(0, -areaHeight() * 0.9),
    '+': () => zoom(1.5, middle()),
    '=': () => zoom(1.5, middle()),
    '-': () => zoom(1 / 1.5, middle()),
    'Shift +': () => zoom(1.5, middle()),
    'Shift _': () => zoom(1 / 1.5, middle()),
    t: () => sizeRows(1.5, areaHeight() / 2),
    l: () => sizeRows(1 / 1.5, areaHeight() / 2),
    Home: showAll,
    Escape: () => choose(null),
  };

  canvas.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const act = keys[(e.shiftKey ? 'Shift ' : '') + e.key];
    if (!act) return;
    e.preventDefault();
    tip.hidden = true;
    act();
  });

  byId('in').onclick = () => zoom(1.6, middle());
  byId('out').onclick = () => zoom(1 / 1.6, middle());
  byId('all').onclick = showAll;
  byId('taller').onclick = () => sizeRows(view.row < 1 ? 2.5 : 1.5, areaHeight() / 2);
  byId('lower').onclick = () => sizeRows(1 / 1.5, areaHeight() / 2);
  byId('order').onchange = (e) => {
    sortRows(e.target.value);
    view.top = 0;
    settle();
  };

  if (count > 0) {
    for (const id of ['tools', 'stage', 'keys']) byId(id).hidden = false;
    readColours();
    sortRows('number');
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      readColours();
      redraw();
    });
    view.row = 0;
    resize();
    showAll();
    new ResizeObserver(resize).observe(stage);
  }
})();
