-- Removes events of a match that are published, up to one of them, from the list of its events.
--
-- KEYS  1 events of the match
-- ARGV  1 bytes of the last event to remove
-- Returns  how many events were removed; 0 if the list does not have that event any longer
--
-- The first event stays, because much reads it alone, and the last one, which the others lead to by
-- their hashes. What is removed leaves a mark: see infra/store/kept_events.py.

local name = KEYS[1]
local place = redis.pcall('LPOS', name, ARGV[1])
if type(place) ~= 'number' then
  return 0  -- removed before, or the key has another type
end
local first, mark = unpack(redis.call('LRANGE', name, 0, 1))
local removed = string.match(mark or '', '^#(%d+)$')
local begin = removed and 2 or 1
local count = math.min(place, redis.call('LLEN', name) - 2) - begin + 1
if count < 1 then
  return 0
end
-- first what frees memory, because then the rest is done even if the memory is full
redis.call('LTRIM', name, begin + count, -1)
redis.call('LPUSH', name, string.format('#%d', (removed or 0) + count), first)
return count
