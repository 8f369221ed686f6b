import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, expect, test } from "vitest";
import { storeOf } from "../testing/fake_host";
import { RecordBuilder } from "../testing/records";
import { Outline } from "./Outline";

const page = document.createElement("div");
document.body.append(page);
afterEach(() => render(null, page));

test("the outline of many ops comes after the first picture, and the picture does not wait", async () => {
  const build = new RecordBuilder();
  let value = build.input("x", ["batch"]);
  for (let at = 0; at < 5100; at++) value = build.call("sin", [value]);
  build.output([value]);
  const { store, program } = storeOf(build.record());
  await act(() => render(<Outline store={store} program={program} />, page));
  expect(page.textContent).toBe("Reading 5,102 ops…");
  await act(() => new Promise((resolve) => setTimeout(resolve, 400)));
  expect(page.querySelector("[role=tree]")).not.toBeNull();
});
