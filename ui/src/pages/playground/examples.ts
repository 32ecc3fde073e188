// Where trying begins.

export interface Example {
  title: string;
  expression: string;
  context: unknown;
  value?: unknown; // with one, the expression is the tests of a cell
}

const ORDER = {
  customer: { name: "Ada", tier: "gold" },
  items: [
    { name: "lamp", price: 40, quantity: 2 },
    { name: "desk", price: 260.5, quantity: 1 },
  ],
  ordered: "2026-03-14",
};

export const EXAMPLES: [Example, ...Example[]] = [
  { title: "sum(…)", expression: "sum(for item in items return item.price * item.quantity)", context: ORDER },
  { title: "if … then", expression: 'if customer.tier = "gold" then 0.1 else 0', context: ORDER },
  { title: "items[…]", expression: "items[price > 100].name", context: ORDER },
  { title: "date(…) + …", expression: 'date(ordered) + duration("P14D")', context: ORDER },
  { title: "some … satisfies", expression: "some item in items satisfies item.quantity > 1", context: ORDER },
  { title: "[10..20), > 100", expression: "[10..20), > 100", context: {}, value: 12 },
];
