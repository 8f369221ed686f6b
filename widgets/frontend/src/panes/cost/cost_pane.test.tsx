import { render } from "preact";
import { act } from "preact/test-utils";
import { expect, test } from "vitest";
import { smallTable } from "../../testing/cost_table";
import { storeOf } from "../../testing/fake_host";
import { freshPage, page } from "../../testing/page";
import { RecordBuilder } from "../../testing/records";
import { soon } from "../../testing/soon";
import { Cost } from "./Cost";

const MARKUP = "<img src=x onerror=alert(1)>";

freshPage();

async function shown(changes = {}) {
  const builder = new RecordBuilder();
  const x = builder.input("x", ["s"]);
  const double = builder.call("mul", [x], { shape: ["s"] });
  builder.output([builder.call(MARKUP, [double], { shape: ["s", "s"] })]);
  const { store, program } = storeOf(builder.record(), { cost: smallTable(changes) });
  await act(() => render(<Cost store={store} program={program} />, page));
  await soon(() => expect(page.querySelector("[data-testid=cost-sizes]")).not.toBeNull());
  return store;
}

const text = (id: string): string => page.querySelector(`[data-testid=${id}]`)?.textContent ?? "";

test("a slider moves totals, ranking, memory and colours, without asking again", async () => {
  const store = await shown();
  expect(text("cost-totals")).toContain("FLOPs64");
  expect(page.querySelector("[data-testid=costs] tbody")?.textContent).toMatch(/^aten\.mul/);
  const slider = page.querySelector<HTMLInputElement>("[data-testid=probe-slider-0]");
  await act(() => {
    if (slider) slider.value = "5";
    slider?.dispatchEvent(new Event("input", { bubbles: true }));
  });
  expect(store.sizes.value).toEqual([5]);
  expect(text("cost-totals")).toContain("FLOPs90");
  expect(page.querySelector("[data-testid=costs] tbody")?.textContent).toMatch(/^aten\.<img/);
  expect(text("cost-memory")).toContain("Peak 125 B");
  expect(store.colouring.value?.name).toBe("flops");
  expect((store.host as unknown as { asked: string[] }).asked).toEqual(["cost"]);
  expect(page.querySelector("img")).toBeNull();
});

test("what is not counted is said, and a program without a value at a size", async () => {
  const store = await shown({ unknown: [1], factors: [[12, "d0", 4, "-", "//"]] });
  expect(page.textContent).toContain("not defined at these values");
  await act(() => store.trySize(0, 5));
  expect(text("cost-unknown")).toContain(`FLOPs unknown for 1 op: aten.${MARKUP}.default ×1`);
});
