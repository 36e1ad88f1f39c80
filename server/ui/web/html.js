// Elements: `html` templates of htm over Preact. Text in a template is put into the page as text, never as markup.
import { h, render, createContext, Fragment } from './lib/preact.js';
import htm from './lib/htm.js';

export const html = htm.bind(h);
export { h, render, createContext, Fragment };
export { useState, useEffect, useLayoutEffect, useMemo, useRef, useCallback, useContext, useReducer, useId } from './lib/hooks.js';
