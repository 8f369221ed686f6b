/**
 * A separate asset, `layout.js`: the layout worker as text, two thirds of the front end. The page
 * shows views without it, and pictures get the layered layout until it is there.
 */

export { default } from "./graph/layout.worker.ts?worker";
