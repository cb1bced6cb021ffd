package trust

// wordList has 256 short words that are hard to mishear, one a byte of a fingerprint. Their order never changes.
const wordList = `
acid acorn actor agent alarm album alder alloy amber angle ankle apple apron arena arrow aspen atlas attic autumn
bacon badge baker banjo barge basil basin beach bean bear beaver bell bench berry birch bison blade blaze bloom
board boat bonus bottle brass bread brick bridge broom brush bucket bugle butter cabin cable cactus camel camera
canal candle canoe canyon carbon cargo carpet castle cedar cello chalk cherry chess chime cider circle citrus clay
clock cloud clover coast cobalt cocoa comet copper coral cotton crane crater crayon creek crow crown cube curtain
cymbal daisy dance delta denim desert dime dolphin donkey dragon drum dune eagle easel echo elbow elm ember engine
epoch fabric falcon feather fennel ferry fiddle field fig finch flame flute forest fossil fox fudge galaxy garden
garlic geyser ginger glacier globe goat golf goose grain grape gravel guitar hammer harbor hawk hazel helmet heron
hill hippo honey hotel igloo indigo island ivory jacket jaguar jelly jewel jungle kayak kernel kettle kiwi koala
ladder lagoon lamp lemon lily linen lion lizard llama lotus lunar magnet mango maple marble meadow melon meteor mint
mirror monkey moss motor mulch nectar nickel novel oasis ocean olive onion opera orbit orchid otter oxygen paddle
palm panda paper parrot peach pebble pepper piano pilot pine planet plum pocket polar pony poppy prism pulse puma
quartz quill rabbit radar radio raven reef ribbon river robin rocket rose ruby saddle salmon satin sierra silver
spruce stone sugar sunset swan tiger timber topaz tulip tundra turtle violet violin walnut willow yacht zebra
`
